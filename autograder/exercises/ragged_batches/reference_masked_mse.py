"""References of `masked_mse`."""

import torch.nn.functional as F

from autograder.exercises.ragged_batches.given import real_steps


def masked_loss(prediction, target, lengths):
    real = real_steps(lengths, prediction.shape[1])
    return F.mse_loss(prediction[real], target[real])
