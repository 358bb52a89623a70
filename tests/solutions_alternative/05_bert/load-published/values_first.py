def load_published(variables, tensors):
    found = {path: tensors.get(published_name(path)) for path in variables}
    values = {path: value for path, value in found.items() if value is not None}
    kernels = {path: values[path].T for path in values if path.endswith("kernel")}
    for path, value in {**values, **kernels}.items():
        variables[path].assign(value)
    wanted = [published_name(path) for path in variables]
    return sorted(path for path in found if path not in values), sorted(n for n in tensors if n not in wanted)
