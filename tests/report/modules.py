"""Modules and commands that the tests of reports share."""

import pathlib
import subprocess

LAYER = """  %m{n} = linalg.matmul ins(%{last}, %w : tensor<64x64xf32>, tensor<64x96xf32>) outs(%j : tensor<64x96xf32>) -> tensor<64x96xf32>
  %t{n} = math.tanh %m{n} : tensor<64x96xf32>
  %s{n} = linalg.matmul ins(%t{n}, %v : tensor<64x96xf32>, tensor<96x64xf32>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
"""


def layers(count, name="main", comment=""):
    """A module whose one function has so many equal layers."""
    text = f"""// {comment}
func.func @"{name}"(%x: tensor<64x64xf32>, %w: tensor<64x96xf32>, %v: tensor<96x64xf32>) -> tensor<64x64xf32> {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = tensor.empty() : tensor<64x96xf32>
  %j = linalg.fill ins(%z : f32) outs(%d : tensor<64x96xf32>) -> tensor<64x96xf32>
"""
    last = "x"
    for n in range(count):
        text += LAYER.format(n=n, last=last)
        last = f"s{n}"
    return text + f"  return %{last} : tensor<64x64xf32>\n}}\n"


OPEN = """
func.func @open(%x: tensor<?x8xf32>, %y: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %p = linalg.matmul ins(%x, %y : tensor<?x8xf32>, tensor<8x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %q = linalg.matmul ins(%p, %y : tensor<?x8xf32>, tensor<8x8xf32>) outs(%x : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %q : tensor<?x8xf32>
}
"""


class Commands:
    """The program, in a folder of its own."""

    def __init__(self, program, folder):
        self.program, self.folder = pathlib.Path(program).resolve(), pathlib.Path(folder)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def run(self, *words, status=0):
        """Standard output, or of what has to fail the message."""
        done = subprocess.run([self.program, *words], cwd=self.folder, check=False, text=True, capture_output=True, timeout=120)
        if done.returncode != status:
            raise AssertionError(f"{words}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout if status == 0 else done.stderr
