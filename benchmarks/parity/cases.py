"""The models that parity is measured on: Hugging Face configurations with random weights.

Part of `benchmarks.parity`.
"""

from dataclasses import dataclass

SMALL = dict(vocab_size=61, max_position_embeddings=24)
LENGTHS = (1, 2, 3, 7, 16, 23, 24)  # JAX compiles every operation again for each length, hence not all of them


@dataclass(frozen=True)
class ParityCase:
    """config: of transformers.   model_type: the family.

    lengths: tokens a row, one batch each; gradients are taken at the longest.

    masked_lm: compare the masked language model, where transformers' model for pre-training is another one.
    causal_lm: compare the model that predicts the next token.   translation: compare encoder and decoder.
    segments: of a row; None: the config's type_vocab_size.
    family: in the table, where it is not the model_type, as for a model that has only other sizes.
    deviation: of the weights. Large enough that attention is far from uniform, small enough that it is not one-hot,
    where rounding would decide which key wins.   rows: a batch; all but the first are padded.
    """

    config: dict
    lengths: tuple
    deviation: float = 0.15
    rows: int = 3
    model_type: str = "bert"
    masked_lm: bool = False
    causal_lm: bool = False
    translation: bool = False
    segments: int | None = None
    family: str = ""


CASES = {
    "gelu": ParityCase(
        SMALL | dict(hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=64), LENGTHS
    ),
    "gelu_new": ParityCase(
        SMALL
        | dict(hidden_size=24, num_hidden_layers=4, num_attention_heads=2, intermediate_size=40, hidden_act="gelu_new"),
        LENGTHS,
    ),
    "relu_untied": ParityCase(
        SMALL
        | dict(
            hidden_size=20,
            num_hidden_layers=2,
            num_attention_heads=5,
            intermediate_size=36,
            hidden_act="relu",
            type_vocab_size=1,
            tie_word_embeddings=False,
        ),
        LENGTHS,
    ),
    "quick_gelu": ParityCase(
        SMALL
        | dict(
            hidden_size=48,
            num_hidden_layers=2,
            num_attention_heads=1,
            intermediate_size=50,
            hidden_act="quick_gelu",
            type_vocab_size=3,
        ),
        LENGTHS,
    ),
    "tinybert": ParityCase(  # TinyBERT's 4 layers of 312 with 12 heads and 1200, in small: loads as a BERT
        SMALL | dict(hidden_size=36, num_hidden_layers=4, num_attention_heads=12, intermediate_size=140),
        LENGTHS,
        family="tinybert",
    ),
    "distilbert": ParityCase(
        SMALL | dict(dim=32, n_layers=3, n_heads=4, hidden_dim=64), LENGTHS, model_type="distilbert"
    ),
    "distilbert_relu_untied": ParityCase(
        SMALL | dict(dim=20, n_layers=2, n_heads=5, hidden_dim=36, activation="relu", tie_word_embeddings=False),
        LENGTHS,
        model_type="distilbert",
    ),
    "roberta": ParityCase(
        SMALL
        | dict(hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=64, type_vocab_size=1,
               max_position_embeddings=26),
        LENGTHS,
        model_type="roberta",
    ),
    "roberta_untied": ParityCase(
        SMALL
        | dict(hidden_size=24, num_hidden_layers=4, num_attention_heads=2, intermediate_size=40, type_vocab_size=1,
               max_position_embeddings=26, layer_norm_eps=1e-5, tie_word_embeddings=False),
        LENGTHS,
        model_type="roberta",
    ),
    "albert": ParityCase(
        SMALL
        | dict(embedding_size=12, hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=64),
        LENGTHS,
        model_type="albert",
    ),
    "albert_groups_untied": ParityCase(
        SMALL
        | dict(embedding_size=16, hidden_size=24, num_hidden_layers=4, num_attention_heads=2, intermediate_size=40,
               num_hidden_groups=2, inner_group_num=2, hidden_act="gelu", tie_word_embeddings=False),
        LENGTHS,
        model_type="albert",
    ),
    "electra_generator": ParityCase(
        SMALL
        | dict(embedding_size=12, hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=64),
        LENGTHS,
        model_type="electra",
        masked_lm=True,
    ),
    "electra_wide": ParityCase(
        SMALL
        | dict(embedding_size=24, hidden_size=24, num_hidden_layers=2, num_attention_heads=2, intermediate_size=40),
        LENGTHS,
        model_type="electra",
        masked_lm=True,
    ),
    "xlnet": ParityCase(
        dict(vocab_size=61, d_model=32, n_layer=3, n_head=4, d_inner=64), LENGTHS, model_type="xlnet", segments=2
    ),
    "xlnet_relu_untied": ParityCase(
        dict(vocab_size=61, d_model=20, n_layer=2, n_head=5, d_inner=36, ff_activation="relu", layer_norm_eps=1e-5,
             tie_word_embeddings=False),
        LENGTHS,
        model_type="xlnet",
        segments=2,
    ),
    "xlnet_512": ParityCase(
        dict(vocab_size=500, d_model=128, n_layer=2, n_head=2, d_inner=256), (512,), deviation=0.05, rows=2,
        model_type="xlnet", segments=2,
    ),
    "modernbert": ParityCase(
        SMALL
        | dict(hidden_size=32, num_hidden_layers=4, num_attention_heads=4, intermediate_size=40, pad_token_id=0,
               local_attention=8),
        LENGTHS,
        model_type="modernbert",
        masked_lm=True,
    ),
    "modernbert_untied": ParityCase(
        SMALL
        | dict(hidden_size=24, num_hidden_layers=3, num_attention_heads=2, intermediate_size=36, pad_token_id=3,
               local_attention=2, global_attn_every_n_layers=2, hidden_activation="silu", norm_eps=1e-6,
               tie_word_embeddings=False),
        LENGTHS,
        model_type="modernbert",
        masked_lm=True,
    ),
    "modernbert_window": ParityCase(  # longer than the published window
        dict(vocab_size=200, hidden_size=64, num_hidden_layers=5, num_attention_heads=4, intermediate_size=80,
             pad_token_id=0),
        (300,),
        deviation=0.1,
        model_type="modernbert",
        masked_lm=True,
    ),
    "gpt2": ParityCase(
        dict(vocab_size=61, n_positions=24, n_embd=32, n_layer=3, n_head=4, pad_token_id=0), (16, 23, 24),
        model_type="gpt2", causal_lm=True,
    ),
    "gpt2_untied": ParityCase(
        dict(vocab_size=61, n_positions=24, n_embd=24, n_layer=2, n_head=2, n_inner=36, activation_function="relu",
             layer_norm_epsilon=1e-6, pad_token_id=0, tie_word_embeddings=False), (16, 23, 24),
        model_type="gpt2", causal_lm=True,
    ),
    "gpt": ParityCase(
        dict(vocab_size=61, n_positions=24, n_embd=32, n_layer=3, n_head=4, pad_token_id=0), (16, 23, 24),
        model_type="openai-gpt", causal_lm=True,
    ),
    "gpt_silu": ParityCase(
        dict(vocab_size=61, n_positions=24, n_embd=20, n_layer=2, n_head=5, afn="silu", pad_token_id=0), (16, 23, 24),
        model_type="openai-gpt", causal_lm=True,
    ),
    "marian": ParityCase(
        dict(vocab_size=61, max_position_embeddings=24, d_model=32, encoder_layers=3, decoder_layers=2,
             encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48,
             activation_function="relu", scale_embedding=True, pad_token_id=0, eos_token_id=3,
             decoder_start_token_id=2, forced_eos_token_id=3), (7, 16, 24),
        model_type="marian", translation=True,
    ),
    "marian_silu": ParityCase(
        dict(vocab_size=61, max_position_embeddings=24, d_model=20, encoder_layers=1, decoder_layers=3,
             encoder_attention_heads=5, decoder_attention_heads=5, encoder_ffn_dim=36, decoder_ffn_dim=36,
             activation_function="swish", scale_embedding=True, pad_token_id=60, eos_token_id=0,
             decoder_start_token_id=2, forced_eos_token_id=0), (7, 24),
        model_type="marian", translation=True,
    ),
    "marian_two_tables": ParityCase(
        dict(vocab_size=61, decoder_vocab_size=73, share_encoder_decoder_embeddings=False, max_position_embeddings=24,
             d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
             encoder_ffn_dim=48, decoder_ffn_dim=48, activation_function="relu", scale_embedding=True, pad_token_id=0,
             eos_token_id=3, decoder_start_token_id=2, forced_eos_token_id=3), (7, 24),
        model_type="marian", translation=True,
    ),
    "base_512": ParityCase(dict(vocab_size=1000), (512,), deviation=0.03, rows=2),  # 12 × 768 × 12 by default
}  # fmt: skip
