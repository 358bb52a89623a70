# Other answers to the exercises of notebook 12: right ones, each of another structure, and wrong ones that the
# checks must find; known mistakes with a name are in the exercises. A cell has the set-up and the answers before it in
# the notebook. A right one must pass whole; a wrong one must never earn all points, whatever the inputs.

# %% soften: right: by hand
def soften(logits, temperature):
    powers = ops.exp((logits - ops.max(logits, axis=-1, keepdims=True)) / temperature)
    return powers / ops.sum(powers, axis=-1, keepdims=True)

# %% soften: right: exp of logarithms
def soften(logits, temperature):
    return ops.exp(ops.log_softmax(ops.multiply(logits, 1 / temperature)))

# %% soften: wrong: exp of large numbers
def soften(logits, temperature):
    powers = ops.exp(logits / temperature)
    return powers / ops.sum(powers, axis=-1, keepdims=True)

# %% soften: wrong: roots of the probabilities
def soften(logits, temperature):
    roots = ops.softmax(logits, axis=-1) ** (1 / temperature)
    return roots / ops.sum(roots, axis=-1, keepdims=True)

# %% soft-loss: right: cross-entropy minus entropy
def soft_loss(student_logits, teacher_logits, temperature):
    log_q = ops.log_softmax(student_logits / temperature)
    log_p = ops.log_softmax(teacher_logits / temperature)
    p = ops.exp(log_p)
    return temperature**2 * (ops.sum(p * log_p, axis=-1) - ops.sum(p * log_q, axis=-1))

# %% soft-loss: right: logsumexp
def soft_loss(student_logits, teacher_logits, temperature):
    s, t = student_logits / temperature, teacher_logits / temperature
    p = soften(teacher_logits, temperature)
    difference = (t - s) - (ops.logsumexp(t, axis=-1, keepdims=True) - ops.logsumexp(s, axis=-1, keepdims=True))
    return ops.sum(p * difference, axis=-1) * temperature * temperature

# %% soft-loss: right: no gradient of the teacher
def soft_loss(student_logits, teacher_logits, temperature):
    wanted = soften(ops.stop_gradient(teacher_logits), temperature)
    log_p, log_q = (ops.log_softmax(z / temperature) for z in (ops.stop_gradient(teacher_logits), student_logits))
    return ops.einsum("...c,...c->...", wanted, log_p - log_q) * temperature**2

# %% every-second: right: counted from the student
def every_second(teacher_arrays):
    prefix, student = "bert.encoder.layers_.", {}
    for path in teacher_arrays:
        if not path.startswith(prefix):
            student[path] = teacher_arrays[path]
    for m in range(len(teacher_arrays)):
        for path, array in teacher_arrays.items():
            if path.startswith(f"{prefix}{2 * m}."):
                student[f"{prefix}{m}." + path.split(".", 4)[4]] = array
    return student

# %% every-second: right: regular expression
import re


def every_second(teacher_arrays):
    student = {}
    for path, array in teacher_arrays.items():
        found = re.fullmatch(r"(bert\.encoder\.layers_\.)(\d+)(\..+)", path)
        if found is None:
            student[path] = array.copy()
        elif int(found[2]) % 2 == 0:
            student[f"{found[1]}{int(found[2]) // 2}{found[3]}"] = array.copy()
    return student

# %% every-second: wrong: counted in the order of the dict
def every_second(teacher_arrays):
    student, seen = {}, {}
    for path, array in teacher_arrays.items():
        if not path.startswith("bert.encoder.layers_."):
            student[path] = array
            continue
        number, rest = path.split(".", 4)[3:]
        if int(number) % 2 == 0:
            seen[rest] = seen.get(rest, -1) + 1
            student[f"bert.encoder.layers_.{seen[rest]}.{rest}"] = array
    return student

# %% distil-loss: right: unit vectors
def distil_loss(student_logits, teacher_logits, labels, weights, student_hidden, teacher_hidden, is_real):
    def unit(x):
        return x / ops.sqrt(ops.sum(ops.square(x), axis=-1, keepdims=True))

    real = ops.cast(is_real, "float32")
    total = ops.sum(weights) + 1e-5
    soft = ops.sum(weights * soft_loss(student_logits, teacher_logits, 2)) / total
    logarithms = ops.log_softmax(student_logits)
    chosen = ops.take_along_axis(logarithms, labels[..., None], axis=-1)[..., 0]
    mlm = -ops.sum(weights * chosen) / total
    cosine = 1 - ops.sum(ops.sum(unit(student_hidden) * unit(teacher_hidden), axis=-1) * real) / ops.sum(real)
    return ops.sum(ops.stack([5 * soft, 2 * mlm, cosine]))

# %% layer-losses: right: differences first
def layer_losses(student_scores, teacher_scores, student_hidden, teacher_hidden, w_h):
    translated = ops.einsum("bln,nw->blw", student_hidden, w_h)
    differences = [student_scores - teacher_scores, translated - teacher_hidden]
    return ops.stack([ops.mean(d * d) for d in differences])

# %% layer-losses: right: head by head
def layer_losses(student_scores, teacher_scores, student_hidden, teacher_hidden, w_h):
    heads = student_scores.shape[1]
    attention = sum(ops.mean((student_scores[:, a] - teacher_scores[:, a]) ** 2) for a in range(heads)) / heads
    flat = ops.reshape(student_hidden, (-1, w_h.shape[0]))
    hidden = ops.mean((flat @ w_h - ops.reshape(teacher_hidden, (-1, w_h.shape[1]))) ** 2)
    return ops.convert_to_tensor([attention, hidden])

# %% layer-losses: wrong: each vector's sum
def layer_losses(student_scores, teacher_scores, student_hidden, teacher_hidden, w_h):
    attention = ops.mean(ops.square(student_scores - teacher_scores))
    hidden = ops.mean(ops.sum(ops.square(ops.matmul(student_hidden, w_h) - teacher_hidden), axis=-1))
    return ops.stack([attention, hidden])
