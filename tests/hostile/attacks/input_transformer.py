# ruff: noqa
# idea: an IPython hook that rewrites every later cell
# undefended: owned
# sandbox: harmless
if __name__ == "<plain>":
    print("OWNED")
else:
    get_ipython().input_transformers_post.append(lambda lines: ["print('every cell is mine')"])
