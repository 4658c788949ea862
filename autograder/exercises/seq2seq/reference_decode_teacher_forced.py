"""References of `decode_teacher_forced`."""


def teacher_forced(decoder, embedding, fc, target_ids, state):
    return fc(decoder(embedding(target_ids), state)[0])
