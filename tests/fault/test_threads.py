"""More threads than the system has: an error, and not a wait without end."""

import resource


def test_too_many_threads_are_a_usage_error(harmonia):
    # Address space for some hundred stacks.
    few = lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))  # noqa: E731
    run = harmonia("gamma", "fn:f2", "uniform:3", "--radius", 1, "--threads", 1000, preexec_fn=few, timeout=60)
    assert run.returncode == 2
    assert run.stderr.startswith("harmonia: 1000 threads: the system gives no more than ")
