# ruff: noqa
# idea: close the channel and go on
# undefended: channel
# sandbox: ended lost or ended exit
import time

os.close(CHANNEL)
time.sleep(5)
