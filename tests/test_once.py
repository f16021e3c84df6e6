from __future__ import annotations

from recompat.once import once_per_object


def test_the_very_same_object_is_read_once_and_an_equal_one_again() -> None:
    read: list[list[int]] = []

    @once_per_object(most=10)
    def total(numbers: list[int]) -> int:
        read.append(numbers)
        return sum(numbers)

    one, equal = [1, 2], [1, 2]
    assert [total(one), total(one), total(equal), total(one)] == [3, 3, 3, 3]
    assert [id(numbers) for numbers in read] == [id(one), id(equal)]


def test_an_object_that_is_gone_is_not_taken_for_another_with_its_id() -> None:
    @once_per_object(most=3)
    def first(numbers: list[int]) -> int:
        return numbers[0]

    assert [first([number]) for number in range(100)] == list(range(100))


def test_nothing_found_is_remembered_too() -> None:
    read: list[object] = []

    @once_per_object(most=3)
    def nothing(what: object) -> None:
        read.append(what)

    what = object()
    nothing(what)
    nothing(what)
    assert read == [what]
