"""Checks of `lstm_parameter_count` for grading only."""

from autograder.checking import asked, case, hidden, needs, points, reference, rule
from autograder.exercises.stacking.test_lstm_parameter_count import expect_parameters

own_count = reference("reference_lstm_parameter_count:own_count")
torch_count = reference("reference_lstm_parameter_count:torch_count")


@points(0.5)
@rule("generality")
@hidden("It is right for networks of other sizes and depths.")
@needs("test_one_bias", "test_two_biases")
def test_any_size(submission, sizes, draw):
    """It is right for one layer, ten layers, equal sizes, one unit, and networks of any size."""
    calls = [
        (sizes.but(L=1), "with one layer"),
        (sizes.but(L=10), "with ten layers"),
        (sizes.but(D=6, H=6), "with as many features as hidden units"),
        (sizes.but(D=1, H=1, L=1), "with every size 1"),
        (sizes.but(D=100, H=2), "with many features and two hidden units"),
        (sizes.but(D=128, H=256, L=2), "with a network of usual size"),
        (sizes.but(D=10**7, H=10**7, L=3), "with a network too large to build"),
    ]
    requests = []
    for other, context in calls:
        arguments = (other.D, other.H, other.L)
        for biases, count in ((1, own_count), (2, torch_count)):
            request = submission.lstm_parameter_count.request(*arguments, biases_per_gate=biases)
            requests.append((request, count(*arguments), other, context, biases))
    for seen, wanted, other, context, biases in asked(requests):
        with case(context):
            expect_parameters(seen(), wanted, other, f"biases_per_gate={biases}")
