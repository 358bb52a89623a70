"""Makes a small file of the published layout: options.json and weights.hdf5 with the names and shapes of bilm-tf."""

import json

import numpy as np

OPTIONS = {
    "lstm": {"use_skip_connections": True, "projection_dim": 4, "cell_clip": 0.3, "proj_clip": 0.1, "dim": 6,
             "n_layers": 2},
    "char_cnn": {"activation": "relu", "filters": [[1, 4], [2, 3], [3, 2]], "n_highway": 2, "embedding": {"dim": 3},
                 "n_characters": 262, "max_characters_per_token": 12},
}  # fmt: skip


def arrays(options=OPTIONS, seed=0):
    """Random weights by the names of the datasets."""
    rng, lstm, cnn = np.random.default_rng(seed), options["lstm"], options["char_cnn"]
    units, size, count = lstm["dim"], lstm["projection_dim"], sum(number for _, number in cnn["filters"])
    shapes = {"char_embed": (261, cnn["embedding"]["dim"])}
    for i, (width, number) in enumerate(cnn["filters"]):
        shapes |= {f"CNN/W_cnn_{i}": (1, width, cnn["embedding"]["dim"], number), f"CNN/b_cnn_{i}": (number,)}
    for i in range(cnn["n_highway"]):
        for name in ("carry", "transform"):
            shapes |= {f"CNN_high_{i}/W_{name}": (count, count), f"CNN_high_{i}/b_{name}": (count,)}
    shapes |= {"CNN_proj/W_proj": (count, size), "CNN_proj/b_proj": (size,)}
    for direction in range(2):
        for layer in range(lstm["n_layers"]):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            shapes |= {f"{cell}/W_0": (2 * size, 4 * units), f"{cell}/B": (4 * units,), f"{cell}/W_P_0": (units, size)}
    return {name: rng.normal(0, 0.5, shape).astype("float32") for name, shape in shapes.items()}


def write(folder, words=(), options=OPTIONS, weights=None, prefix=""):
    """The folder, with words.txt if there are words."""
    import h5py

    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{prefix}options.json").write_text(json.dumps(options), encoding="utf-8")
    with h5py.File(folder / f"{prefix}weights.hdf5", "w") as file:
        for name, array in (arrays(options) if weights is None else weights).items():
            file.create_dataset(name, data=array)
    if words:
        (folder / "words.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    return folder
