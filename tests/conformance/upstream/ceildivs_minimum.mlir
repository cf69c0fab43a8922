// The least integer divided towards plus infinity: its negation is itself, and the quotient comes out positive
// (llvm-project #223127, #215696: index::CeilDivSOp::fold, ConvertIndexCeilDivS).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// -2^63 / 2 = -2^62
// CASE:
// INPUT: i64=-9223372036854775808
// EXPECT: result[0]: i64=-4611686018427387904
// EXPECT: result[1]: i64=-4611686018427387904
// EXPECT: result[2]: i64=-4611686018427387904

func.func @main(%x: i64) -> (i64, i64, i64) {
  %least = index.constant -9223372036854775808
  %two = index.constant 2
  %n = arith.index_cast %x : i64 to index
  %a = index.ceildivs %least, %two
  %b = index.ceildivs %n, %two
  %d = arith.ceildivsi %n, %two : index
  %r0 = arith.index_cast %a : index to i64
  %r1 = arith.index_cast %b : index to i64
  %r3 = arith.index_cast %d : index to i64
  return %r0, %r1, %r3 : i64, i64, i64
}
