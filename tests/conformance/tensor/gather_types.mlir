// Elements of every type picked by index; indices of several types.
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: 3xi8=2 0 1
// INPUT: 3xi1=1 0 0
// INPUT: 3xi8=-128 0 127
// INPUT: 3xi16=-32768 0 32767
// INPUT: 3xi32=5 6 7
// INPUT: 3xi64=-9223372036854775808 0 9223372036854775807
// INPUT: 3xf16=0.5 1 1.5
// INPUT: 3xbf16=0.5 1 1.5
// INPUT: 3xf64=0.25 1 1.75
// INPUT: 3xindex=11 12 13
// EXPECT: result[0]: 3xi1=[0, 1, 0]
// EXPECT: result[1]: 3xi8=[127, -128, 0]
// EXPECT: result[2]: 3xi16=[32767, -32768, 0]
// EXPECT: result[3]: 3xi32=[7, 5, 6]
// EXPECT: result[4]: 3xi64=[9223372036854775807, -9223372036854775808, 0]
// EXPECT: result[5]: 3xf16=[1.5, 0.5, 1]
// EXPECT: result[6]: 3xbf16=[1.5, 0.5, 1]
// EXPECT: result[7]: 3xf64=[1.75, 0.25, 1]
// EXPECT: result[8]: 3xindex=[13, 11, 12]
// CASE:
// INPUT: 129xi8=90
// INPUT: 91xi1=1
// INPUT: 91xi8=rnd:1
// INPUT: 91xi16=rnd:2
// INPUT: 91xi32=rnd:3
// INPUT: 91xi64=rnd:4
// INPUT: 91xf16=rnd:5
// INPUT: 91xbf16=rnd:6
// INPUT: 91xf64=rnd:7
// INPUT: 91xindex=3
// CASE:
// INPUT: 0xi8=[]
// INPUT: 0xi1=[]
// INPUT: 0xi8=[]
// INPUT: 0xi16=[]
// INPUT: 0xi32=[]
// INPUT: 0xi64=[]
// INPUT: 0xf16=[]
// INPUT: 0xbf16=[]
// INPUT: 0xf64=[]
// INPUT: 0xindex=[]

#id = affine_map<(i) -> (i)>

func.func @main(%x: tensor<?xi8>, %b: tensor<?xi1>, %i8: tensor<?xi8>, %i16: tensor<?xi16>,
                %i32: tensor<?xi32>, %i64: tensor<?xi64>, %f16: tensor<?xf16>,
                %bf16: tensor<?xbf16>, %f64: tensor<?xf64>, %index: tensor<?xindex>)
    -> (tensor<?xi1>, tensor<?xi8>, tensor<?xi16>, tensor<?xi32>, tensor<?xi64>, tensor<?xf16>,
        tensor<?xbf16>, tensor<?xf64>, tensor<?xindex>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi8>
  %e0 = tensor.empty(%n) : tensor<?xi1>
  %e1 = tensor.empty(%n) : tensor<?xi8>
  %e2 = tensor.empty(%n) : tensor<?xi16>
  %e3 = tensor.empty(%n) : tensor<?xi32>
  %e4 = tensor.empty(%n) : tensor<?xi64>
  %e5 = tensor.empty(%n) : tensor<?xf16>
  %e6 = tensor.empty(%n) : tensor<?xbf16>
  %e7 = tensor.empty(%n) : tensor<?xf64>
  %e8 = tensor.empty(%n) : tensor<?xindex>
  %r:9 = linalg.generic {
      indexing_maps = [#id, #id, #id, #id, #id, #id, #id, #id, #id, #id],
      iterator_types = ["parallel"]}
      ins(%x : tensor<?xi8>)
      outs(%e0, %e1, %e2, %e3, %e4, %e5, %e6, %e7, %e8 :
           tensor<?xi1>, tensor<?xi8>, tensor<?xi16>, tensor<?xi32>, tensor<?xi64>, tensor<?xf16>,
           tensor<?xbf16>, tensor<?xf64>, tensor<?xindex>) {
  ^bb0(%k: i8, %o0: i1, %o1: i8, %o2: i16, %o3: i32, %o4: i64, %o5: f16, %o6: bf16, %o7: f64,
       %o8: index):
    %wide = arith.extsi %k : i8 to i64
    %i = arith.index_cast %k : i8 to index
    %j = arith.index_cast %wide : i64 to index
    %v0 = tensor.extract %b[%i] : tensor<?xi1>
    %v1 = tensor.extract %i8[%i] : tensor<?xi8>
    %v2 = tensor.extract %i16[%i] : tensor<?xi16>
    %v3 = tensor.extract %i32[%i] : tensor<?xi32>
    %v4 = tensor.extract %i64[%j] : tensor<?xi64>
    %v5 = tensor.extract %f16[%j] : tensor<?xf16>
    %v6 = tensor.extract %bf16[%j] : tensor<?xbf16>
    %v7 = tensor.extract %f64[%j] : tensor<?xf64>
    %v8 = tensor.extract %index[%j] : tensor<?xindex>
    linalg.yield %v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7, %v8
        : i1, i8, i16, i32, i64, f16, bf16, f64, index
  } -> (tensor<?xi1>, tensor<?xi8>, tensor<?xi16>, tensor<?xi32>, tensor<?xi64>, tensor<?xf16>,
        tensor<?xbf16>, tensor<?xf64>, tensor<?xindex>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8
      : tensor<?xi1>, tensor<?xi8>, tensor<?xi16>, tensor<?xi32>, tensor<?xi64>, tensor<?xf16>,
        tensor<?xbf16>, tensor<?xf64>, tensor<?xindex>
}
