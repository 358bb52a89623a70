def load_published(variables, tensors):
    names = {path: published_name(path) for path in variables}
    there = {path for path, name in names.items() if name in tensors}
    for path in there:
        array = tensors[names[path]]
        if path.split(".")[-1] == "kernel":
            array = np.transpose(array)
        variables[path].assign(array)
    return sorted(set(variables) - there), sorted(set(tensors) - set(names.values()))
