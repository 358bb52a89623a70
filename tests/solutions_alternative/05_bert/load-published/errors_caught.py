def load_published(variables, tensors):
    missing, used = set(), set()
    for path, variable in variables.items():
        try:
            value = tensors[published_name(path)]
        except KeyError:
            missing.add(path)
        else:
            used.add(published_name(path))
            variable.assign(ops.transpose(value) if "kernel" in path else value)
    return sorted(missing), sorted(tensors.keys() - used)
