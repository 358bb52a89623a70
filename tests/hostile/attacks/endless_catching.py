# ruff: noqa
# idea: a loop that catches every exception
# undefended: silence
# sandbox: ended wall clock or limit wall clock
while True:
    try:
        while True:
            continue
    except BaseException:
        continue
