# ruff: noqa
# idea: print, open and isinstance replaced for all later code
# undefended: owned
# sandbox: harmless or ended wall clock or ended exit or ended protocol
import builtins, json

builtins.isinstance = lambda *arguments: True
builtins.len = lambda thing: 3
json.dumps = lambda *arguments, **keywords: "[]"
builtins.print("OWNED" if __name__ == "<plain>" else "")
