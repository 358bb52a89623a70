# The grader's own objects and modules, in the same process.
import sys

# === import_references: import the grader's own exercises and read how they are judged
# undefended: owned; sandbox: error ModuleNotFoundError
sys.path += GRADER_PATHS
import autograde.judging.judge

print("OWNED", autograde.judging.judge.__file__)

# === input_transformer: an IPython hook that rewrites every later cell
# undefended: owned; sandbox: harmless
if __name__ == "<plain>":
    print("OWNED")
else:
    get_ipython().input_transformers_post.append(lambda lines: ["print('every cell is mine')"])

# === inspect_frames: walk up the stack to the grader's own variables
# undefended: owned; sandbox: harmless
frame = sys._getframe()
while frame:
    for name, value in list(frame.f_locals.items()):
        if name == "expected_answer":
            print("OWNED", value)
    frame = frame.f_back

# === patched_builtins: print, open and isinstance replaced for all later code
# undefended: owned; sandbox: harmless or ended wall clock or ended exit or ended protocol
import builtins, json

builtins.isinstance = lambda *arguments: True
builtins.len = lambda thing: 3
json.dumps = lambda *arguments, **keywords: "[]"
builtins.print("OWNED" if __name__ == "<plain>" else "")

# === search_the_heap: the collector lists every object, the grader's among them
# undefended: owned; sandbox: harmless
import gc

for thing in gc.get_objects():
    if type(thing) is dict and "expected_answer" in thing:
        print("OWNED", thing["expected_answer"])
