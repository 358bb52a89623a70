class NspHead(keras.layers.Dense):
    dense = property(lambda self: self)

    def __init__(self, **kwargs):
        super().__init__(2, **kwargs)
