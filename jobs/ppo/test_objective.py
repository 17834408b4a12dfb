"""The mathematics, against what can be computed by hand."""

import sys
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))


class Objective(unittest.TestCase):
    def test_the_worth_of_an_answer_comes_with_its_last_token_and_drift_costs_everywhere(self) -> None:
        import objective
        import torch

        mask = torch.tensor([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
        drift = torch.tensor([[0.5, 1.0, 9.0], [0.0, 0.0, 1.0]])
        rewards = objective.token_rewards(torch.tensor([2.0, 3.0]), drift, mask, 0.1)
        torch.testing.assert_close(rewards, torch.tensor([[-0.05, 1.9, 0.0], [0.0, 0.0, 2.9]]))

    def test_advantages_are_the_sum_of_later_surprises_each_counting_less(self) -> None:
        import objective
        import torch

        rewards, values = torch.tensor([[0.0, 0.0, 1.0, 7.0]]), torch.tensor([[0.2, 0.3, 0.5, 8.0]])
        found = objective.advantages(rewards, values, torch.tensor([[1.0, 1.0, 1.0, 0.0]]))
        surprises = [0.3 - 0.2, 0.5 - 0.3, 1.0 - 0.5]
        wanted = [sum(0.95**later * surprise for later, surprise in enumerate(surprises[token:])) for token in range(3)]
        torch.testing.assert_close(found, torch.tensor([[*wanted, 0.0]]))

    def test_a_policy_gains_nothing_by_going_further_than_the_clip(self) -> None:
        import objective
        import torch

        new = torch.tensor([[0.5]], requires_grad=True)
        one = torch.ones(1, 1)
        objective.policy_loss(new, torch.zeros(1, 1), one, one).backward()
        self.assertEqual(new.grad.item(), 0.0)
        near = torch.tensor([[0.1]], requires_grad=True)
        objective.policy_loss(near, torch.zeros(1, 1), one, one).backward()
        self.assertLess(near.grad.item(), 0.0)

    def test_whitened_values_have_mean_0_and_spread_1_where_tokens_count(self) -> None:
        import objective
        import torch

        values, mask = torch.tensor([[1.0, 3.0, 99.0]]), torch.tensor([[1.0, 1.0, 0.0]])
        torch.testing.assert_close(objective.whitened(values, mask, lambda one: one), torch.tensor([[-1.0, 1.0, 0.0]]))


if __name__ == "__main__":
    unittest.main()
