# ruff: noqa
# Programs that reveal the hidden rows of notebook 07's training run. Each section is appended to the
# notebook's last answer, so it comes after the student's model and after the course's.
# %% setup
def digits(things):
    return "".join(digit for digit in repr([np.array(thing).tolist() for thing in things]) if digit.isdigit())[:300]


def with_leak(leak):
    """Replaces the model's result on the hidden rows, which are 256."""
    call = PreTrainingModel.call

    def called(self, token_ids, *given, **more):
        results = call(self, token_ids, *given, **more)
        if len(token_ids) == 256:
            return leak(digits([token_ids, *given]), *results)
        return results

    PreTrainingModel.call = called


# %% words
def leak(secret, logits, pairs):
    print("CANARY" + secret)
    raise type("CANARY" + secret, (ValueError,), {})("CANARY" + secret + " (987654, 987654)")


# %% kinds
def leak(secret, logits, pairs):
    return type("CANARY" + secret, (), {})()


# %% text
def leak(secret, logits, pairs):
    return ["CANARY" + secret, {"CANARY" + secret: 987654}]


# %% numbers
def leak(secret, logits, pairs):
    return logits * 0 + ops.one_hot(int(secret[:3]), logits.shape[-1]) * 987654.0, pairs


# %% refused
def leak(secret, logits, pairs):
    from autograde.boundary.call_answer import RefusedError

    raise RefusedError("CANARY" + secret, "CANARY" + secret)


# %% end
def leak(secret, logits, pairs):
    import os

    os._exit(40 + int(secret[0]))


# %% protocol
def leak(secret, logits, pairs):
    import gc

    from autograde.boundary.channel import Channel

    channel = [thing for thing in gc.get_objects() if type(thing) is Channel][0]
    ask = channel.send
    solution = [text for text in In if "SOLUTION" in text] or [""]
    change = {"CANARY" + secret: 987654, "answers": ["CANARY" + secret + solution[-1][:20], 987654]}
    channel.send = lambda header, ours=(): ask({**header, **change}, ours)
    return logits, pairs


# %% agent
def leak(secret, logits, pairs):
    from autograde.boundary import call_answer

    error = {"type": "CANARY" + secret, "message": "CANARY" + secret, "line": 987654, "reason": "CANARY"}
    notes = {"returned": "CANARY" + secret, "printed": 987654, "watched": ["CANARY"]}
    answer = {"status": "raised", "value": {"CANARY": secret}, "error": error, "notes": notes}
    call_answer.answer = lambda questions, *more: [answer for question in questions]
    raise KeyboardInterrupt
