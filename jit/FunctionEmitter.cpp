// Logarithms by a table of reciprocals, as P. T. P. Tang has them (ACM Transactions on Mathematical Software 16, 1990): x = 2^n m, a
// reciprocal c of m that is so short that r = c m - 1 is exact, and log(x) = n log(2) - log(c) + log(1 + r). Tables have sixteen
// entries, which are in registers. The polynomials are minimax by Remez exchange, as in ir/Codegen/MathPolynomials.cpp.

#include "jit/FunctionEmitter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <array>
#include <bit>
#include <cmath>

using namespace llvm;

namespace plim::jit {
namespace {

using Values = SmallVector<Value *, 2>;
using Entries = std::array<double, 16>;

/// Entries of a table as the sum of two.
struct Table {
  Entries high, low;
};

/// The reciprocal for each sixteenth of [1, 1.5) and thirty-second of [0.75, 1); 1 beside 1.
constexpr Entries reciprocals = {1,       0.90625, 0.875,  0.8125, 0.78125, 0.75,
                                 0.71875, 0.6875,  1.3125, 1.25,   1.21875, 1.15625,
                                 1.125,   1.09375, 1.0625, 1};
/// The reciprocal for what is nearest to each multiple of a sixteenth in [1, 1.5) and of a thirty-second in [0.75, 1).
constexpr Entries nearReciprocals = {1,       0.9375,  0.890625, 0.84375, 0.796875, 0.765625,
                                     0.71875, 0.6875,  1.3125,   1.28125, 1.21875,  1.1875,
                                     1.15625, 1.09375, 1.0625,   1.03125};

/// A logarithm of a reciprocal, with the sign changed, is a multiple of 2^-42 and what is left; that of 2, too. Of r it is `ofE` r,
/// as the sum of two, and r^2 times a polynomial, whose error relative to the result is 2^-60.9 and 2^-27.9.
struct Base {
  double ofTwo, ofTwoLow, ofE, ofELow;
  Table table;
  std::array<double, 10> coefficients;
  double ofTwoF32, ofTwoLowF32, ofELowF32;
  std::array<double, 4> coefficientsF32;
};
constexpr Base baseE = {
    0x1.62e42fefa38p-1,
    0x1.ef35793c7673p-45,
    1,
    0,
    {{0, 0x1.9335e5d594p-4, 0x1.1178e8227ep-3, 0x1.a93ed3c8aep-3, 0x1.f991c6cb3cp-3,
      0x1.269621134ep-2, 0x1.522ae0738ap-2, 0x1.7fafa3bd81p-2, -0x1.1675cababap-2,
      -0x1.c8ff7c79aap-3, -0x1.9525a9cf46p-3, -0x1.29552f82p-3, -0x1.e27076e2bp-4,
      -0x1.6f0d28ae58p-4, -0x1.f0a30c0118p-5, 0},
     {0, 0x1.3115c3abd47dap-45, 0x1.1ef78ce2d07f2p-45, -0x1.8724350562169p-45,
      -0x1.90d04cd7cc834p-44, -0x1.1b61f10522625p-44, 0x1.ebe708164c759p-45, 0x1.46fb79bf6d4cbp-44,
      -0x1.8380e731f55c4p-44, 0x1.7794f689f8434p-45, 0x1.297137d9f158fp-44, 0x1.5b967f4471dfcp-44,
      0x1.a342c2af0003cp-45, 0x1.4b4641b664613p-44, 0x1.d599e83368e91p-45, 0}},
    {-0x1.fffffffffffffp-2, 0x1.5555555555536p-2, -0x1.0000000002a1bp-2, 0x1.9999999a0c97ep-3,
     -0x1.55555523e14b9p-3, 0x1.249244a86c8a1p-3, -0x1.000099b3f954fp-3, 0x1.c73f35acb827ep-4,
     -0x1.98e2ec5eb9909p-4, 0x1.47c8e3f176d6ep-4},
    0x1.62e4p-1,
    0x1.7f7d1cp-20,
    0,
    {-0x1.fffffap-2, 0x1.55586ep-2, -0x1.0040c2p-2, 0x1.8703e8p-3}};
constexpr Base base2 = {
    1,
    0,
    0x1.71547652b82fep+0,
    0x1.777d0ffda0d24p-56,
    {{0, 0x1.22dadc2ab4p-3, 0x1.8a8980abfcp-3, 0x1.32bfee370fp-2, 0x1.6cb0f6865dp-2,
      0x1.a8ff971811p-2, 0x1.e7df5fe539p-2, 0x1.14c560fe688p-1, -0x1.91bba891f1p-2,
      -0x1.49a784bcd2p-2, -0x1.24407ab0ep-2, -0x1.acf5e2db4ep-3, -0x1.5c01a39fbep-3,
      -0x1.08c588cda8p-3, -0x1.663f6fac9p-4, 0},
     {0, -0x1.6d25a5b8a19b2p-44, -0x1.66cccab240e9p-46, -0x1.979a5db68721dp-46,
      -0x1.c57f2495fb7fap-44, -0x1.6879fa00b120ap-44, -0x1.532c412ba94dbp-44, 0x1.7c407050799bfp-44,
      -0x1.c22d2cad415aep-44, 0x1.1d406db502403p-44, -0x1.ce60916e52e91p-44, -0x1.927dfc23d978p-44,
      0x1.2f0c0bfe9dbecp-44, 0x1.871a7610e40bdp-45, -0x1.3167ccc538261p-44, 0}},
    {-0x1.71547652b82fdp-1, 0x1.ec709dc3a03dp-2, -0x1.71547652bcc9dp-2, 0x1.2776c50f4ed84p-2,
     -0x1.ec709d73655ffp-3, 0x1.a6175bfbf44c1p-3, -0x1.715567abdd944p-3, 0x1.4864d3ee9bdf5p-3,
     -0x1.26e41dfb25bf2p-3, 0x1.d795d1bf15bf5p-4},
    1,
    0,
    0x1.4ae0cp-26,
    {-0x1.715472p-1, 0x1.ec7516p-2, -0x1.71b1e8p-2, 0x1.1a0e72p-2}};
constexpr Base base10 = {
    0x1.34413509f8p-2,
    -0x1.80433b83b532ap-44,
    0x1.bcb7b1526e50ep-2,
    0x1.95355baaafad3p-57,
    {{0, 0x1.5e3966b7e8p-5, 0x1.db11ed7668p-5, 0x1.715d0ce368p-4, 0x1.b721cd1714p-4,
      0x1.ffbfc2bbc8p-4, 0x1.25ba8215bp-3, 0x1.4d43f8275ap-3, -0x1.e3bc1ab0ep-4, -0x1.8cf1838864p-4,
      -0x1.5fe80488bp-4, -0x1.02428c1f08p-4, -0x1.a30a9d60ap-5, -0x1.3ed1199a6p-5,
      -0x1.af5f92b01p-6, 0},
     {0, 0x1.2951bb9cd2fb7p-45, 0x1.5fa196e1e0ddap-44, -0x1.41149840eaa65p-46,
      0x1.7e295f660b9dap-44, -0x1.ff229f20ed3d2p-46, -0x1.007bf2d8bf07ap-44, 0x1.20ca9a2bcc728p-45,
      -0x1.9fe3d562a53fp-44, -0x1.019365163f2fcp-45, 0x1.606adb567e739p-45, -0x1.5ea6bc2bc8c2cp-52,
      0x1.0163d7e67d282p-45, 0x1.bdafc8ad828b8p-45, 0x1.9f05921f59258p-46, 0}},
    {-0x1.bcb7b1526e50dp-3, 0x1.287a7636f433fp-3, -0x1.bcb7b15273755p-4, 0x1.63c6277593778p-4,
     -0x1.287a7609e4609p-4, 0x1.fc3f9dde27118p-5, -0x1.bcb8bec475cd4p-5, 0x1.8b6cc17bde3edp-5,
     -0x1.632dfe9e02638p-5, 0x1.1cced99be95b9p-5},
    0x1.344p-2,
    0x1.3509f8p-18,
    -0x1.5b235ep-27,
    {-0x1.bcb7acp-3, 0x1.287d26p-3, -0x1.bd293cp-4, 0x1.53b09cp-4}};

/// Logarithms to the base 2 of the nearest reciprocals, as above.
constexpr Table logarithmsOfNear = {
    {0, 0x1.7d60496cfcp-4, 0x1.563dc29ffap-3, 0x1.f5fd8a9064p-3, 0x1.4f6fbb2cecp-2,
     0x1.8a8980abfcp-2, 0x1.e7df5fe539p-2, 0x1.14c560fe688p-1, -0x1.91bba891f1p-2,
     -0x1.6e221cd9d1p-2, -0x1.24407ab0ep-2, -0x1.fbc16b9026p-3, -0x1.acf5e2db4ep-3,
     -0x1.08c588cda8p-3, -0x1.663f6fac9p-4, -0x1.6bad3758fp-5},
    {0, -0x1.2ce6312ebb81dp-46, 0x1.964190e41bca7p-44, -0x1.cb6f70109b0f1p-47,
     0x1.661e393a16b95p-44, -0x1.66cccab240e9p-45, -0x1.532c412ba94dbp-44, 0x1.7c407050799bfp-44,
     -0x1.c22d2cad415aep-44, 0x1.90d43956fa5d8p-45, -0x1.ce60916e52e91p-44, -0x1.0144751b3314fp-44,
     -0x1.927dfc23d978p-44, 0x1.871a7610e40bdp-45, -0x1.3167ccc538261p-44, 0x1.3c6764fc87b4ap-48}};

/// 2^(i / 16), and what is left of it, relative to it.
constexpr Table roots = {
    {0x1p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0,
     0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0, 0x1.6a09e667f3bcdp+0,
     0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f09p+0, 0x1.ae89f995ad3adp+0,
     0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0},
    {0, 0x1.79aa65d837b6cp-54, -0x1.01b15eaa59348p-55, 0x1.68efde3a8a893p-54, 0x1.34d754db0abb6p-55,
     0x1.59f48a72a4c6cp-55, 0x1.690cebb7aafbp-56, 0x1.063e1e21c5409p-54, -0x1.3b3efbf5e2229p-54,
     -0x1.b32dcb94da51dp-56, 0x1.db72fc1f0eab4p-55, 0x1.1affc2b91ce27p-56, 0x1.c1a7792cb3386p-55,
     0x1.36eae30af0cb3p-56, 0x1.4a385a63d07a7p-56, -0x1.ff7128fd391f1p-55}};

/// What a power needs of a type: log2((1 + s) / (1 - s)) is s times `factor`, as the sum of two, and s^3 times a polynomial in s^2,
/// whose error relative to the result is 2^-70.4 and 2^-40.2; 2^f - 1 is f times another one, with 2^-62.9 and 2^-29.2.
struct PowerConstants {
  double factor, factorLow;
  std::array<double, 4> logarithm;
  std::array<double, 7> exponential;
  size_t logarithmTerms, exponentialTerms;
  double sureExponent;     // below it a power is a normal number
  double moderateExponent; // above it only the sign of an exponent matters
  double leastExponent, mostExponent;
};
constexpr PowerConstants powerF64 = {
    0x1.71547652b82fep+1,
    0x1.777d0ffda0d24p-55,
    {0x1.ec709dc3a03fcp-1, 0x1.2776c50f053b8p-1, 0x1.a6175f337ccf8p-2, 0x1.487f11637bd3bp-2},
    {0x1.62e42fefa39efp-1, 0x1.ebfbdff82c59ep-3, 0x1.c6b08d7051038p-5, 0x1.3b2ab6fa81b82p-7,
     0x1.5d87f767e5c3dp-10, 0x1.430aac48e0bb5p-13, 0x1.03f596311d92ap-16},
    4,
    7,
    1020,
    2048,
    -1200,
    1100};
constexpr PowerConstants powerF32 = {0x1.715476p+1,
                                     0x1.4ae0cp-25,
                                     {0x1.ec709ep-1, 0x1.27841p-1},
                                     {0x1.62e43p-1, 0x1.ecp-3, 0x1.c6a7ecp-5},
                                     2,
                                     3,
                                     124,
                                     256,
                                     -254,
                                     129};

template <typename Make, typename... Others>
Values each(Make make, const Values &first, const Others &...others) {
  Values results;
  for (size_t i = 0; i < first.size(); ++i)
    results.push_back(make(first[i], others[i]...));
  return results;
}

/// Arithmetic on vectors of 512 bits, `count` at a time. Nothing but what says so is fused.
class Arithmetic {
public:
  Arithmetic(IRBuilder<> &builder, FixedVectorType *type, size_t count)
      : b(builder), type(type), isDouble(type->getElementType()->isDoubleTy()), count(count),
        bitsType(FixedVectorType::get(b.getIntNTy(isDouble ? 64 : 32), type->getNumElements())),
        all(Constant::getAllOnesValue(b.getIntNTy(type->getNumElements()))) {}

  IRBuilder<> &b;
  FixedVectorType *const type;
  const bool isDouble;

  /// In f32 the nearest one.
  Values number(double value) { return Values(count, ConstantFP::get(type, value)); }
  Values bits(uint64_t value) { return Values(count, ConstantInt::get(bitsType, value)); }

  Values add(const Values &x, const Values &y) {
    return each([&](Value *x, Value *y) { return b.CreateFAdd(x, y); }, x, y);
  }
  Values sub(const Values &x, const Values &y) {
    return each([&](Value *x, Value *y) { return b.CreateFSub(x, y); }, x, y);
  }
  Values mul(const Values &x, const Values &y) {
    return each([&](Value *x, Value *y) { return b.CreateFMul(x, y); }, x, y);
  }
  Values div(const Values &x, const Values &y) {
    return each([&](Value *x, Value *y) { return b.CreateFDiv(x, y); }, x, y);
  }
  /// x * y + z, rounded once.
  Values fma(const Values &x, const Values &y, const Values &z) {
    return each([&](Value *x, Value *y,
                    Value *z) { return b.CreateIntrinsic(Intrinsic::fma, {type}, {x, y, z}); },
                x, y, z);
  }
  Values negative(const Values &x) {
    return each([&](Value *x) { return b.CreateFNeg(x); }, x);
  }
  Values magnitude(const Values &x) { return unary(Intrinsic::fabs, x); }
  /// What the product has lost, exactly.
  Values lostBy(const Values &product, const Values &x, const Values &y) {
    return fma(x, y, negative(product));
  }

  /// Lowest coefficient first. In fours, which do not wait for each other.
  Values polynomial(const Values &x, ArrayRef<double> coefficients) {
    const Values square = mul(x, x);
    Values sum, fourth;
    for (size_t begin = (coefficients.size() - 1) / 4 * 4;; begin -= 4) {
      const Values part = shortPolynomial(x, square, coefficients.slice(begin).take_front(4));
      if (!sum.empty() && fourth.empty())
        fourth = mul(square, square);
      sum = sum.empty() ? part : fma(sum, fourth, part);
      if (begin == 0)
        return sum;
    }
  }

  Values bitsOf(const Values &x) {
    return each([&](Value *x) { return b.CreateBitCast(x, bitsType); }, x);
  }
  Values fromBits(const Values &x) {
    return each([&](Value *x) { return b.CreateBitCast(x, type); }, x);
  }
  Values addBits(const Values &x, const Values &y) {
    return each([&](Value *x, Value *y) { return b.CreateAdd(x, y); }, x, y);
  }
  Values both(const Values &x, const Values &y) {
    return each([&](Value *x, Value *y) { return b.CreateAnd(x, y); }, x, y);
  }
  Values either(const Values &x, const Values &y) {
    return each([&](Value *x, Value *y) { return b.CreateOr(x, y); }, x, y);
  }
  Values shiftLeft(const Values &x, unsigned by) {
    return each([&](Value *x) { return b.CreateShl(x, by); }, x);
  }
  Values shiftRight(const Values &x, unsigned by) {
    return each([&](Value *x) { return b.CreateLShr(x, by); }, x);
  }
  Values leastBits(const Values &x, uint64_t limit) {
    return each(
        [&](Value *x) { return b.CreateBinaryIntrinsic(Intrinsic::umin, x, bits(limit)[0]); }, x);
  }

  /// False for NaN.
  Values isLess(const Values &x, const Values &y) {
    return each([&](Value *x, Value *y) { return b.CreateFCmpOLT(x, y); }, x, y);
  }
  Values is(const Values &x, const Values &y) {
    return each([&](Value *x, Value *y) { return b.CreateFCmpOEQ(x, y); }, x, y);
  }
  Values isBelowBits(const Values &x, const Values &y) {
    return each([&](Value *x, Value *y) { return b.CreateICmpULT(x, y); }, x, y);
  }
  Values isWhole(const Values &x) { return is(unary(Intrinsic::trunc, x), x); }
  Values choose(const Values &condition, const Values &yes, const Values &no) {
    return each([&](Value *c, Value *yes, Value *no) { return b.CreateSelect(c, yes, no); },
                condition, yes, no);
  }
  /// NaN stays NaN.
  Values atMost(const Values &x, double limit) {
    return choose(isLess(number(limit), x), number(limit), x);
  }
  Values atLeast(const Values &x, double limit) {
    return choose(isLess(x, number(limit)), number(limit), x);
  }
  Value *areAll(const Values &conditions) {
    Value *both = conditions[0];
    for (Value *condition : drop_begin(conditions))
      both = b.CreateAnd(both, condition);
    return b.CreateICmpEQ(b.CreateBitCast(both, all->getType()), all);
  }

  /// floor(log2 |x|), minus infinity for a zero.
  Values exponent(const Values &x) {
    return each(
        [&](Value *x) {
          return b.CreateIntrinsic(isDouble ? Intrinsic::x86_avx512_mask_getexp_pd_512
                                            : Intrinsic::x86_avx512_mask_getexp_ps_512,
                                   {}, {x, x, all, rounding()});
        },
        x);
  }
  /// |x| times the power of two with which it is in [0.75, 1.5).
  Values mantissa(const Values &x) {
    return each(
        [&](Value *x) {
          return b.CreateIntrinsic(isDouble ? Intrinsic::x86_avx512_mask_getmant_pd_512
                                            : Intrinsic::x86_avx512_mask_getmant_ps_512,
                                   {}, {x, b.getInt32(0b0111), x, all, rounding()});
        },
        x);
  }
  /// x * 2^floor(by).
  Values scale(const Values &x, const Values &by) {
    return each(
        [&](Value *x, Value *by) {
          return b.CreateIntrinsic(isDouble ? Intrinsic::x86_avx512_mask_scalef_pd_512
                                            : Intrinsic::x86_avx512_mask_scalef_ps_512,
                                   {}, {x, by, x, all, rounding()});
        },
        x, by);
  }
  /// `result`, or what a response for the kind of x says. A response has four bits for each: of quiet and signalling NaN, zeros, 1,
  /// minus infinity, infinity, other negative and positive numbers.
  Values withSpecial(const Values &result, const Values &x, uint32_t responses) {
    return each(
        [&](Value *result, Value *x) {
          return b.CreateIntrinsic(isDouble ? Intrinsic::x86_avx512_mask_fixupimm_pd_512
                                            : Intrinsic::x86_avx512_mask_fixupimm_ps_512,
                                   {},
                                   {result, x, bits(responses)[0], b.getInt32(0), all, rounding()});
        },
        result, x);
  }

  /// By the lowest four bits of each index.
  Values lookup(Constant *entries, const Values &index) {
    if (!isDouble)
      return each(
          [&](Value *index) {
            return b.CreateIntrinsic(Intrinsic::x86_avx512_permvar_sf_512, {}, {entries, index});
          },
          index);
    Value *first = b.CreateShuffleVector(entries, ArrayRef<int>{0, 1, 2, 3, 4, 5, 6, 7});
    Value *second = b.CreateShuffleVector(entries, ArrayRef<int>{8, 9, 10, 11, 12, 13, 14, 15});
    return each(
        [&](Value *index) {
          return b.CreateIntrinsic(Intrinsic::x86_avx512_vpermi2var_pd_512, {},
                                   {first, index, second});
        },
        index);
  }
  Constant *entries(const Entries &values) {
    if (isDouble)
      return ConstantDataVector::get(b.getContext(), ArrayRef<double>(values));
    std::array<float, 16> narrow;
    copy(values, narrow.begin());
    return ConstantDataVector::get(b.getContext(), ArrayRef<float>(narrow));
  }

  /// Bits of a mantissa.
  unsigned mantissaBits() const { return isDouble ? 52 : 23; }
  uint64_t bitsOfNumber(double value) const {
    return isDouble ? std::bit_cast<uint64_t>(value) : std::bit_cast<uint32_t>(float(value));
  }
  double numberOfBits(uint64_t bits) const {
    return isDouble ? std::bit_cast<double>(bits) : std::bit_cast<float>(uint32_t(bits));
  }

private:
  Values unary(Intrinsic::ID function, const Values &x) {
    return each([&](Value *x) { return b.CreateUnaryIntrinsic(function, x); }, x);
  }
  Values shortPolynomial(const Values &x, const Values &square, ArrayRef<double> c) {
    if (c.size() == 1)
      return number(c[0]);
    Values low = fma(number(c[1]), x, number(c[0]));
    if (c.size() == 2)
      return low;
    return fma(c.size() == 3 ? number(c[2]) : fma(number(c[3]), x, number(c[2])), square, low);
  }
  Value *rounding() { return b.getInt32(4); } // as the processor is told

  size_t count;
  FixedVectorType *bitsType;
  Constant *all;
};

/// The table for a type: in f32 its first part is a multiple of 2^-16, so that sums with an exponent are exact.
Table tableFor(const Arithmetic &a, const Table &table) {
  if (a.isDouble)
    return table;
  Table narrow;
  for (size_t i = 0; i < table.high.size(); ++i) {
    narrow.high[i] = std::nearbyint(table.high[i] * 0x1p16) * 0x1p-16;
    narrow.low[i] = table.high[i] - narrow.high[i] + table.low[i];
  }
  return narrow;
}

/// |x| = 2^n m, with the reciprocal of m that an index into a table says.
struct Scaled {
  Values n, m, index;
};
Scaled scaled(Arithmetic &a, const Values &x) {
  const Values m = a.mantissa(x);
  return {a.sub(a.exponent(x), a.exponent(m)), m, a.shiftRight(a.bitsOf(m), a.mantissaBits() - 4)};
}
/// With the index of the nearest one; but for the last of those below 1.5, whose bits go on with those of 0.75.
Scaled scaledByNearest(Arithmetic &a, const Values &x) {
  const Values m = a.mantissa(x);
  const Values bits = a.addBits(a.bitsOf(m), a.bits(uint64_t(1) << (a.mantissaBits() - 5)));
  return {a.sub(a.exponent(x), a.exponent(m)), m,
          a.shiftRight(a.leastBits(bits, a.bitsOfNumber(1.5) - 1), a.mantissaBits() - 4)};
}

/// Off by half a unit in the last place and the little that what is small beside the result is off by: a sum of f64 keeps what it
/// loses, one of f32 loses a quarter.
Values logarithm(Arithmetic &a, const Base &base, const Values &x) {
  const auto [n, m, index] = scaled(a, x);
  const Values r = a.fma(m, a.lookup(a.entries(reciprocals), index), a.number(-1));
  const Table table = tableFor(a, base.table);
  const Values ofReciprocal = a.lookup(a.entries(table.high), index);
  const double ofTwo = a.isDouble ? base.ofTwo : base.ofTwoF32,
               ofTwoLow = a.isDouble ? base.ofTwoLow : base.ofTwoLowF32,
               ofELow = a.isDouble ? base.ofELow : base.ofELowF32;
  const Values whole =
      ofTwo == 1 ? a.add(n, ofReciprocal) : a.fma(n, a.number(ofTwo), ofReciprocal);
  Values low = a.lookup(a.entries(table.low), index);
  if (ofTwoLow != 0)
    low = a.fma(n, a.number(ofTwoLow), low);
  const Values p = a.polynomial(r, a.isDouble ? ArrayRef<double>(base.coefficients)
                                              : ArrayRef<double>(base.coefficientsF32));
  low = base.ofE == 1 ? a.fma(p, a.mul(r, r), low) : a.fma(a.fma(p, r, a.number(ofELow)), r, low);
  Values result;
  if (!a.isDouble) {
    result = a.add(whole, base.ofE == 1 ? a.add(r, low) : a.fma(r, a.number(base.ofE), low));
  } else {
    Values first = r;
    if (base.ofE != 1) {
      first = a.mul(r, a.number(base.ofE));
      low = a.add(low, a.lostBy(first, r, a.number(base.ofE)));
    }
    const Values high = a.add(whole, first);
    result = a.add(high, a.add(a.add(a.sub(whole, high), first), low));
  }
  // NaN for NaN and what is negative, minus infinity for zeros, infinity for itself.
  return a.withSpecial(result, x, 0x03530422);
}

/// A number as the sum of two; the second is small beside the first.
struct Pair {
  Values high, low;
};

/// log2 |x| of numbers. With r as above it is that of (1 + s) / (1 - s), where s = r / (2 + r), whose rest is divided with the
/// factor: 1 / (2 + r) is (1 - s) / 2.
Pair logarithmOf(Arithmetic &a, const PowerConstants &constants, const Values &x) {
  const auto [n, m, index] = scaledByNearest(a, x);
  const Table table = tableFor(a, logarithmsOfNear);
  const Values reciprocal = a.lookup(a.entries(nearReciprocals), index);
  const Values r = a.fma(m, reciprocal, a.number(-1)), sum = a.fma(m, reciprocal, a.number(1));
  const Values sumLow = a.sub(r, a.sub(sum, a.number(2)));
  const Values s = a.div(r, sum), minusS = a.negative(s);
  const Values rest = a.fma(minusS, sumLow, a.fma(minusS, sum, r));
  const Values restFactor =
      a.fma(s, a.number(-0.5 * constants.factor), a.number(0.5 * constants.factor));
  const Values square = a.mul(s, s);
  const Values p = a.polynomial(
      square, ArrayRef<double>(constants.logarithm).take_front(constants.logarithmTerms));
  const Values first = a.mul(s, a.number(constants.factor));
  Values low =
      a.add(a.lookup(a.entries(table.low), index), a.lostBy(first, s, a.number(constants.factor)));
  low = a.fma(s, a.number(constants.factorLow), low);
  low = a.fma(rest, restFactor, a.fma(a.mul(s, square), p, low));
  const Values whole = a.add(n, a.lookup(a.entries(table.high), index)), high = a.add(whole, first);
  return {high, a.add(a.add(a.sub(whole, high), first), low)};
}

/// 2^exponent as a root of two and what is to be added to it, relative to it: 2^(k / 16) (1 + rest).
struct Exponential {
  Values k, index, rest;
};
/// Adding 1.5 times a power of two leaves four bits for a fraction.
Exponential exponential(Arithmetic &a, const PowerConstants &constants, const Pair &exponent) {
  const Values shift = a.number(std::ldexp(1.5, int(a.mantissaBits()) - 4));
  const Values shifted = a.add(exponent.high, shift), k = a.sub(shifted, shift);
  const Values f = a.add(a.sub(exponent.high, k), exponent.low), index = a.bitsOf(shifted);
  const Values p = a.polynomial(
      f, ArrayRef<double>(constants.exponential).take_front(constants.exponentialTerms));
  Entries low = roots.low;
  if (!a.isDouble)
    for (size_t i = 0; i < low.size(); ++i)
      low[i] = (roots.high[i] - float(roots.high[i])) / roots.high[i];
  return {k, index, a.fma(p, f, a.lookup(a.entries(low), index))};
}

/// Coefficients of P in 2^f - 1 = f P(f) for |f| <= 1 / 32, the error relative to 2^f 2^-56.8.
constexpr std::array<double, 6> shortExponential = {0x1.62e42fefa39fdp-1,  0x1.ebfbdff82c594p-3,
                                                    0x1.c6b08d6e8a384p-5,  0x1.3b2ab6fb09b31p-7,
                                                    0x1.5d89be4c12513p-10, 0x1.430a49610efc6p-13};

/// e^x or 2^x as 2^(k / 16) 2^f. What is beyond the bounds is zero or infinite; a denormal is rounded twice. In f32 the root
/// is off by half a unit, too: a second table would take a seventh of the time.
Values exponential(Arithmetic &a, bool isOfE, const Values &argument) {
  const double perUnit = isOfE ? base2.ofE : 1, most = a.isDouble ? 1025 : 129,
               least = a.isDouble ? -1077 : -151;
  const Values x =
      a.atLeast(a.atMost(argument, std::ceil(most / perUnit)), std::floor(least / perUnit));
  const Values shift = a.number(std::ldexp(1.5, int(a.mantissaBits()) - 4));
  Values shifted, k, f;
  if (isOfE) {
    const Values log2E = a.number(base2.ofE);
    shifted = a.fma(x, log2E, shift);
    k = a.sub(shifted, shift);
    f = a.fma(x, a.number(a.isDouble ? base2.ofELow : base2.ofELowF32),
              a.fma(x, log2E, a.negative(k)));
  } else {
    shifted = a.add(x, shift);
    k = a.sub(shifted, shift);
    f = a.sub(x, k);
  }
  const Values index = a.bitsOf(shifted), root = a.lookup(a.entries(roots.high), index);
  if (a.isDouble) {
    const Values rest =
        a.fma(a.polynomial(f, shortExponential), f, a.lookup(a.entries(roots.low), index));
    return a.scale(a.fma(root, rest, root), k);
  }
  const auto &c = powerF32.exponential;
  const Values p = a.fma(a.fma(f, a.number(c[2]), a.number(c[1])), f, a.number(c[0]));
  return a.scale(a.fma(a.mul(root, f), p, root), k);
}

/// The bits of 2^(i / 16) less i in the place of k: those of 2^(k / 16) are the sum with k.
Constant *rootsForSums(Arithmetic &a) {
  Entries numbers;
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] =
        a.numberOfBits(a.bitsOfNumber(roots.high[i]) - (uint64_t(i) << (a.mantissaBits() - 4)));
  return a.entries(numbers);
}

/// The powers that are numbers above zero whose bits end where those of a normal number do; anything for others.
struct Power {
  Pair exponent;
  Values result;
};
Power surePower(Arithmetic &a, const PowerConstants &constants, const Pair &logarithm,
                const Values &y) {
  const Values first = a.mul(logarithm.high, y), high = a.fma(logarithm.low, y, first);
  const Pair exponent{
      high, a.add(a.fma(logarithm.low, y, a.sub(first, high)), a.lostBy(first, logarithm.high, y))};
  const auto [k, index, rest] = exponential(a, constants, exponent);
  const Values root = a.fromBits(a.addBits(a.bitsOf(a.lookup(rootsForSums(a), index)),
                                           a.shiftLeft(index, a.mantissaBits() - 4)));
  return {exponent, a.fma(root, rest, root)};
}

/// All powers, with signs and edges as in C; those above have the same bits.
Values anyPower(Arithmetic &a, const PowerConstants &constants, const Values &logarithm,
                Pair exponent, const Values &x, const Values &y) {
  const Values zero = a.number(0), magnitude = a.magnitude(x);
  // NaN for NaN, minus infinity for zeros, infinity for itself. Where it is large its low part may be NaN.
  const Values large = a.mul(a.withSpecial(logarithm, magnitude, 0x00500422), y);
  const Values isModerate = a.isLess(a.magnitude(large), a.number(constants.moderateExponent));
  exponent.high = a.choose(isModerate, exponent.high, large);
  exponent.high =
      a.atLeast(a.atMost(exponent.high, constants.mostExponent), constants.leastExponent);
  exponent.low = a.choose(isModerate, exponent.low, zero);
  // Where either is zero, whatever the other one is, infinite or NaN, the power is 1.
  const Values isOne = a.either(a.is(magnitude, a.number(1)), a.is(y, zero));
  exponent = {a.choose(isOne, zero, exponent.high), a.choose(isOne, zero, exponent.low)};
  const auto [k, index, rest] = exponential(a, constants, exponent);
  const Values root =
      a.fromBits(a.addBits(a.bitsOf(a.lookup(rootsForSums(a), index)),
                           a.shiftLeft(a.both(index, a.bits(15)), a.mantissaBits() - 4)));
  const Values result = a.scale(a.fma(root, rest, root), k);
  // Of a negative number: the sign, if the exponent is odd, and NaN, if it is not whole.
  const Values sign = a.both(a.bitsOf(x), a.bits(a.bitsOfNumber(-0.0)));
  const Values ofWhole = a.choose(a.isWhole(a.mul(y, a.number(0.5))), result,
                                  a.fromBits(a.either(a.bitsOf(result), sign)));
  const Values isNegative = a.both(a.isLess(x, zero), a.isLess(a.number(-INFINITY), x));
  return a.choose(a.isWhole(y), ofWhole, a.choose(isNegative, a.number(NAN), result));
}

/// |x|^y = 2^(y log2 |x|), the logarithm and its product as pairs. What is rare is behind a branch, for all vectors together.
Values power(Arithmetic &a, const Values &x, const Values &y) {
  const PowerConstants &constants = a.isDouble ? powerF64 : powerF32;
  const Pair logarithm = logarithmOf(a, constants, x);
  const auto [exponent, result] = surePower(a, constants, logarithm, y);
  const Values isPositive = a.isBelowBits(a.addBits(a.bitsOf(x), a.bits(~uint64_t(0))),
                                          a.bits(a.bitsOfNumber(INFINITY) - 1));
  const Values isSmall = a.isLess(a.magnitude(exponent.high), a.number(constants.sureExponent));
  Value *isRare = a.b.CreateNot(a.areAll(a.both(isPositive, isSmall)));

  const BasicBlock::iterator next = a.b.GetInsertPoint();
  BasicBlock *usual = a.b.GetInsertBlock();
  Instruction *rare =
      SplitBlockAndInsertIfThen(isRare, next, /*Unreachable=*/false,
                                MDBuilder(a.b.getContext()).createUnlikelyBranchWeights());
  a.b.SetInsertPoint(rare);
  const Values other = anyPower(a, constants, logarithm.high, exponent, x, y);
  a.b.SetInsertPoint(next->getParent(), next->getParent()->begin());
  const Values either = each(
      [&](Value *result, Value *other) {
        PHINode *phi = a.b.CreatePHI(a.type, 2);
        phi->addIncoming(result, usual);
        phi->addIncoming(other, rare->getParent());
        return phi;
      },
      result, other);
  a.b.SetInsertPoint(next->getParent(), next);
  return either;
}

} // namespace

SmallVector<Value *, 2> emitFunction(IRBuilder<> &builder, VectorFunction function,
                                     ArrayRef<SmallVector<Value *, 2>> arguments) {
  Arithmetic arithmetic(builder, cast<FixedVectorType>(arguments[0][0]->getType()),
                        arguments[0].size());
  switch (function) {
  case VectorFunction::Exp:
    return exponential(arithmetic, /*isOfE=*/true, arguments[0]);
  case VectorFunction::Exp2:
    return exponential(arithmetic, /*isOfE=*/false, arguments[0]);
  case VectorFunction::Log:
    return logarithm(arithmetic, baseE, arguments[0]);
  case VectorFunction::Log2:
    return logarithm(arithmetic, base2, arguments[0]);
  case VectorFunction::Log10:
    return logarithm(arithmetic, base10, arguments[0]);
  case VectorFunction::Pow:
    return power(arithmetic, arguments[0], arguments[1]);
  }
  llvm_unreachable("all functions are above");
}

} // namespace plim::jit
