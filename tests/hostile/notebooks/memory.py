# ruff: noqa
# What an earlier question asked, told by a later cell: words of errors, names that are missing, pictures and HTML.
# %% setup
seen = ["7"]


def digits():
    return "".join(digit for digit in repr(seen) if digit.isdigit())


# %% concat-heads
def concat_heads(heads):
    seen.extend(head.numpy().tolist() for head in heads)
    return heads[0]


# %% add-to-rows
import matplotlib.pyplot as plt
from IPython.display import HTML, display

print("CANARY" + digits())
display(HTML("CANARY" + digits()))
plt.plot([1, 2])
plt.title("CANARY" + digits())
plt.show()
raise ValueError("CANARY" + digits())

# %% softmax-rows
secret_0 = secret_1 = secret_2 = secret_3 = secret_4 = secret_5 = secret_6 = secret_7 = secret_8 = secret_9 = 0
raise NameError(f"name 'secret_{digits()[0]}' is not defined")

# %% scores
exec(compile("\n" * 987654 + "raise ValueError(digits())", "<cell 99>", "exec"))

# %% attention
raise type("CANARY" + digits(), (SyntaxError,), {})("CANARY" + digits())

# %% padding-mask
import os

os._exit(40 + int(digits()[0]))

# %% causal-mask
import os, signal

os.kill(os.getpid(), 40 + int(digits()[0]))
