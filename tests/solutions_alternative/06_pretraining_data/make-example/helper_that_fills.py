def make_example(original_ids, masked_ids, token_type_ids, positions, label, length, most):
    def fill(items, size, with_what=0):
        return items + [with_what] * (size - len(items))

    example = {"next_sentence_labels": label}
    example["input_ids"] = fill(masked_ids, length)
    example["token_type_ids"] = fill(token_type_ids, length)
    example["attention_mask"] = fill([1] * len(original_ids), length)
    example["masked_lm_positions"] = fill(positions, most)
    example["masked_lm_ids"] = fill([original_ids[place] for place in positions], most)
    example["masked_lm_weights"] = fill([1.0] * len(positions), most, 0.0)
    return example
