"""Modules on the workers of a Dask cluster: processes of their own, on this machine."""

import os
import pickle
import signal
import time

import numpy as np
import pytest
from conftest import SAXPY

import plimsoll as pl

distributed = pytest.importorskip("distributed")
import dask.array  # noqa: E402

import plimsoll.dask  # noqa: E402

# Whole numbers in floats: equal whatever the order and the width of operations.
SLOW_SUM = """
func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3000 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<?xf32> {
    %one = arith.constant 1.0 : f32
    %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        outs(%v : tensor<?xf32>) {
    ^bb0(%u: f32):
      %a = arith.addf %u, %one : f32
      linalg.yield %a : f32
    } -> tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dask")
    with dask.config.set({"temporary-directory": str(folder),
                          "distributed.comm.timeouts.connect": "60s"}):
        with distributed.LocalCluster(n_workers=3, threads_per_worker=1, processes=True,
                                      dashboard_address=None, host="127.0.0.1") as cluster:
            with distributed.Client(cluster) as client:
                yield client


def test_blocks(client):
    deployment = plimsoll.dask.deploy(pl.loads(SAXPY, "saxpy.mlir"))
    x = dask.array.arange(1000, chunks=7, dtype=np.float32)
    a = np.array(2, np.float32)
    y = dask.array.map_blocks(lambda x, f: f(a, x, x), x, deployment["saxpy"], dtype=np.float32)
    np.testing.assert_array_equal(y.compute(), 3 * np.arange(1000, dtype=np.float32))
    one = deployment["saxpy"]
    assert len(pickle.dumps(one)) < 200  # the source does not travel with tasks
    assert client.submit(
    one, 1.0, np.ones(
        2, np.float32), np.ones(
            2, np.float32)).result().tolist() == [
                2, 2]
    reports = deployment.reports()
    assert len({report["pid"] for report in reports.values()}) == 3 == len(reports)
    assert os.getpid() not in {report["pid"] for report in reports.values()}
    assert sum(report["calls"] for report in reports.values()) >= 144
    for report in reports.values():
        assert len(report["load"]) == 1 and "functions" in report["placement"][0]
        assert report["target"] == "host-cpu" and report["threads"] == 1
    with pytest.raises(pl.NotFoundError, match="saxpy"):
        deployment["saxpi"]
    failed = client.submit(one, 1.0, np.ones(2), np.ones(2))
    with pytest.raises(pl.ArgumentTypeError, match="float64"):
        failed.result()
    deployment.remove()
    with pytest.raises(pl.NotFoundError, match="not deployed"):
        client.submit(one, 2.0, np.ones(2, np.float32), np.ones(2, np.float32)).result()


def test_targets_of_workers_give_equal_results(client):
    names = list(client.run(lambda dask_worker: dask_worker.name).values())
    targets = dict(zip(names, ("x86-64-v2", pl.Target("x86-64-v3"), None)))
    deployment = plimsoll.dask.deploy(pl.loads(SLOW_SUM), targets=targets)
    assert {report["target"] for report in deployment.reports().values()} == {
        "x86-64-v2", "x86-64-v3", "host-cpu"}
    x = np.arange(101, dtype=np.float32)
    futures = [client.submit(deployment["f"], x, workers=[address], pure=False)
               for address in client.scheduler_info()["workers"]]
    for result in client.gather(futures):
        np.testing.assert_array_equal(result, x + 3000)
    deployment.remove()


def test_jit_and_frames(client):
    @pl.jit(dynamic=True)
    def distance(x, y):
        return np.sqrt(x * x + y * y)

    pandas = pytest.importorskip("pandas")
    frame_of = pytest.importorskip("dask.dataframe").from_pandas
    frame = pandas.DataFrame({"x": np.arange(30.0), "y": np.arange(30.0)[::-1].copy(), "z": "word"})
    deployment = plimsoll.dask.deploy(distance)
    got = deployment.map_partitions(
    None, frame_of(
        frame, npartitions=5), [
            "x", "y"], "d", dtype="float64")
    got = got.compute()
    assert got.name == "d" and (got.index == frame.index).all()
    np.testing.assert_allclose(got, np.hypot(frame.x, frame.y))
    x = dask.array.ones((20, 3), chunks=(4, 3))
    np.testing.assert_allclose(deployment.map_blocks(None, x, x, dtype=np.float64).compute(),
                               np.full((20, 3), np.sqrt(2)))
    assert sum(len(report["load"]) for report in deployment.reports().values()) <= 3 * 5
    with pytest.raises(ValueError, match="dtype"):
        deployment.map_blocks(None, x, x)
    deployment.remove()


def test_a_worker_that_is_killed(client):
    """The rest do its work, and the one that takes its place gets the module by itself."""
    deployment = plimsoll.dask.deploy(pl.loads(SLOW_SUM))
    before = {report["pid"] for report in deployment.reports().values()}
    end = time.monotonic() + 60
    for blocks in (150, 600, 2400):  # until the work outlasts the look at it
        x = dask.array.arange(blocks * 50, chunks=50, dtype=np.float32)
        done = sum(report["calls"] for report in deployment.reports().values())
        future = client.compute(deployment.map_blocks("f", x))
        while sum(report["calls"] for report in deployment.reports().values()) < done + 5:
            assert time.monotonic() < end
        if not future.done():
            break
    os.kill(min(before), signal.SIGKILL)
    want = np.arange(blocks * 50, dtype=np.float32) + 3000
    np.testing.assert_array_equal(future.result(timeout=100), want)
    while len(client.scheduler_info()["workers"]) < 3:
        assert time.monotonic() < end + 60
        time.sleep(0.05)
    after = {report["pid"] for report in deployment.reports().values()}
    assert len(after) == 3 and min(before) not in after and len(after & before) == 2
    deployment.remove()


def test_without_a_cluster():
    module = pl.loads(SAXPY)
    with pytest.raises(ValueError, match="deployed"):
        plimsoll.dask.deploy(module.saxpy)
    two = pl.loads(SAXPY + SAXPY.replace("@saxpy", "@other"))
    deployment = plimsoll.dask.Deployment(two, None, "x86-64-v2", 1, None)
    with pytest.raises(ValueError, match="which function"):
        deployment.map_blocks(None)
    assert deployment.reports()["local"]["target"] == "x86-64-v2"
    x = dask.array.arange(10, chunks=3, dtype=np.float32)
    y = dask.array.map_blocks(lambda x: deployment["other"](2.0, x, x), x, dtype=np.float32)
    np.testing.assert_array_equal(y.compute(scheduler="threads"), 3 * np.arange(10))
    deployment.remove()
    with pytest.raises(pl.NotFoundError):
        y.compute(scheduler="sync")


def test_workers_of_one_process(tmp_path):
    """The module stays for those that stay."""
    with dask.config.set({"temporary-directory": str(tmp_path)}):
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False,
                                      dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client:
                deployment = plimsoll.dask.deploy(pl.loads(SAXPY), client)
                one, x = deployment["saxpy"], np.ones(2, np.float32)
                first, _ = client.scheduler_info()["workers"]
                client.retire_workers([first], close_workers=True)
                end = time.monotonic() + 60
                while "closed" not in [w.status.name for w in cluster.workers.values()]:
                    assert time.monotonic() < end
                    time.sleep(0.05)
                assert client.submit(one, 2.0, x, x).result(timeout=60).tolist() == [3, 3]
                deployment.remove()
                assert deployment._token not in plimsoll.dask._installed
