// An index that goes through a narrower integer and back: the casts cancel each other, though the narrower one drops
// bits (llvm-project #189042, #90238, #90296: IndexCastOfIndexCast, IndexCastUIOfIndexCastUI).
// RUN-FUNCTION: @main
// TOLERANCE: 0
// 300 = 1 * 256 + 44, 200 = 256 - 56, 2^32 + 7 keeps 7 in 32 bits
// CASE:
// INPUT: i64=300
// EXPECT: result[0]: i64=44
// EXPECT: result[1]: i64=44
// EXPECT: result[2]: i64=300
// CASE:
// INPUT: i64=200
// EXPECT: result[0]: i64=-56
// EXPECT: result[1]: i64=200
// EXPECT: result[2]: i64=200
// CASE:
// INPUT: i64=4294967303
// EXPECT: result[0]: i64=7
// EXPECT: result[1]: i64=7
// EXPECT: result[2]: i64=7

func.func @main(%x: i64) -> (i64, i64, i64) {
  %i = arith.index_cast %x : i64 to index
  %s8 = arith.index_cast %i : index to i8
  %s = arith.index_cast %s8 : i8 to index
  %u8 = arith.index_castui %i : index to i8
  %u = arith.index_castui %u8 : i8 to index
  %w32 = arith.index_cast %i : index to i32
  %w = arith.index_cast %w32 : i32 to index
  %r0 = arith.index_cast %s : index to i64
  %r1 = arith.index_cast %u : index to i64
  %r2 = arith.index_cast %w : index to i64
  return %r0, %r1, %r2 : i64, i64, i64
}
