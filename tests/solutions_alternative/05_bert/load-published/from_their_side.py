def load_published(variables, tensors):
    mine = {published_name(path): path for path in variables}
    unused = []
    for name in sorted(tensors):
        path = mine.pop(name, None)
        if path is None:
            unused.append(name)
        elif path.endswith(".kernel"):
            variables[path].assign(np.swapaxes(tensors[name], 0, 1))
        else:
            variables[path].assign(tensors[name])
    return sorted(mine.values()), unused
