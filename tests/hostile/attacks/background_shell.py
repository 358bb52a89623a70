# ruff: noqa
# idea: a shell command that runs on in the background
# undefended: heartbeat
# sandbox: harmless
import subprocess

line = f"while sleep 0.2; do echo x >> {OUTSIDE}/heartbeat; done"
subprocess.Popen(["timeout", "3", "sh", "-c", line], start_new_session=True, stdout=-3, stderr=-3)
