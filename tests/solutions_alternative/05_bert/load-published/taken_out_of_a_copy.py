def load_published(variables, tensors):
    rest, missing = dict(tensors), []
    for path in sorted(variables):
        value = rest.pop(published_name(path), None)
        if value is None:
            missing.append(path)
        else:
            variables[path].assign(np.einsum("oi->io", value) if path.endswith("kernel") else value)
    return missing, sorted(rest)
