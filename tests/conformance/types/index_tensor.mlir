// Tensors of index, which are 64 bits wide at the border.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 4xindex=0 1 5000000000 7
// INPUT: index=3
// EXPECT: result[0]: 4xindex=[0, 4, 15000000002, 24]
// EXPECT: result[1]: index=4
// CASE:
// INPUT: 101xindex=2
// INPUT: index=1
// EXPECT: result[1]: index=101

#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<?xindex>, %k: index) -> (tensor<?xindex>, index) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xindex>
  %e = tensor.empty(%n) : tensor<?xindex>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<?xindex>) outs(%e : tensor<?xindex>) {
  ^bb0(%x: index, %z: index):
    %i = linalg.index 0 : index
    %p = arith.muli %x, %k : index
    %s = arith.addi %p, %i : index
    linalg.yield %s : index
  } -> tensor<?xindex>
  return %r, %n : tensor<?xindex>, index
}
