def wordpiece(word, vocabulary):
    if len(word) > 200:
        return ["[UNK]"]
    output, joiner = [], ""
    while word:
        head = word
        while head and joiner + head not in vocabulary:
            head = head[:-1]
        if not head:
            return ["[UNK]"]
        output.append(joiner + head)
        word, joiner = word[len(head) :], "##"
    return output
