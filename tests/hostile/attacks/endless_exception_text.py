# ruff: noqa
# idea: an exception whose message is gigantic
# undefended: owned
# sandbox: error ValueError or ended memory or limit memory
# limits: cell_seconds=6.0
if __name__ == "<plain>":
    print("OWNED" + "x" * 100_000_000)
raise ValueError("x" * 100_000_000)
