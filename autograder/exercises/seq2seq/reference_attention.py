"""References of `attention`."""

import torch
import torch.nn.functional as F


def attended(query, encoder_output, lengths):
    """Context and weights by torch's own attention; the weights are its answer to unit vectors."""
    mask = (torch.arange(encoder_output.shape[1]) < lengths[:, None])[:, None]
    units = torch.eye(encoder_output.shape[1], dtype=query.dtype).expand(len(query), -1, -1)
    context, weights = (
        F.scaled_dot_product_attention(query[:, None], encoder_output, values, attn_mask=mask)[:, 0]
        for values in (encoder_output, units)
    )
    return context, weights
