def load_published(variables, tensors):
    if not variables:
        return [], sorted(tensors)
    path, *others = variables
    name = published_name(path)
    missing, unused = load_published(
        {other: variables[other] for other in others}, {n: t for n, t in tensors.items() if n != name}
    )
    if name not in tensors:
        return sorted([path, *missing]), unused
    rows = zip(*tensors[name]) if path.endswith("kernel") else tensors[name]
    variables[path].assign(np.array(list(rows)))
    return missing, unused
