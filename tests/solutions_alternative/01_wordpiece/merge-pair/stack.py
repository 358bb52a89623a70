def merge_pair(pair, spelled):
    left, right = pair
    result = []
    for pieces, count in spelled:
        stack, fresh = [], False
        for piece in pieces:
            if stack and stack[-1] == left and piece == right and not fresh:
                stack[-1] = left + right[2:]
                fresh = True
            else:
                stack.append(piece)
                fresh = False
        result.append((stack, count))
    return result
