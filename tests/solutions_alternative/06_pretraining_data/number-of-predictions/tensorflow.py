def number_of_predictions(tokens, most=20, share=0.15):
    wanted = tf.round(tf.constant(share * tokens, "float64"))
    return int(tf.clip_by_value(wanted, 1, most))
