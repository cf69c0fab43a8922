#include "ir/Codegen/Passes.h"
#include "ir/Plim/Plim.h"
#include "ir/Plim/ProductInstructions.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace plim::ir {
#define GEN_PASS_DEF_PLIMLOWERTILEPRODUCTS
#include "ir/Codegen/Passes.h.inc"
} // namespace plim::ir

using namespace mlir;
using namespace plim::ir;

namespace {

/// Eight registers: four sums of two tiles of rows and two of columns, and the four factors.
constexpr int64_t mostTiles = 2;

struct Lowering {
  TileProductOp op;
  ImplicitLocOpBuilder builder;
  amx::TileType sumTile, aTile, bTile;

  explicit Lowering(TileProductOp op) : op(op), builder(op.getLoc(), op) {
    const Type element = getElementTypeOrSelf(op.getA().getType());
    const int64_t elements = bytesOfTileRow / (element.getIntOrFloatBitWidth() / 8);
    sumTile = amx::TileType::get({rowsOfTile, bytesOfTileRow / 4},
                                 getElementTypeOrSelf(op.getSum().getType()));
    aTile = bTile = amx::TileType::get({rowsOfTile, elements}, element);
  }

  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, value); }

  Value plus(Value base, int64_t offset) {
    return offset == 0 ? base : arith::AddIOp::create(builder, base, index(offset)).getResult();
  }

  Value multiply(Value a, Value b, Value sum) {
    if (isa<FloatType>(sumTile.getElementType()))
      return amx::TileMulFOp::create(builder, sumTile, a, b, sum);
    return amx::TileMulIOp::create(builder, sumTile, a, b, sum, op.getUnsignedA(),
                                   op.getUnsignedB());
  }

  /// All of the reduction for some tiles, whose first row of `a` is `row`. The sum is in `memory` from `sumRow`.
  void block(int64_t tilesOfRows, int64_t tilesOfColumns, Value row, Value memory, Value sumRow) {
    SmallVector<Value> sums;
    auto place = [&](int64_t i, int64_t j) -> SmallVector<Value> {
      return {plus(sumRow, i * rowsOfTile), index(j * rowsOfTile)};
    };
    for (int64_t i = 0; i < tilesOfRows; ++i)
      for (int64_t j = 0; j < tilesOfColumns; ++j)
        sums.push_back(op.getFromZero()
                           ? amx::TileZeroOp::create(builder, sumTile).getResult()
                           : amx::TileLoadOp::create(builder, sumTile, memory, place(i, j)));
    Value groups = memref::DimOp::create(builder, op.getB(), 0);
    auto loop = scf::ForOp::create(
        builder, index(0), groups, index(rowsOfTile), sums,
        [&](OpBuilder &, Location, Value group, ValueRange carried) {
          Value depth = arith::MulIOp::create(builder, group, index(op.groupSize()));
          SmallVector<Value> a, b, next;
          for (int64_t i = 0; i < tilesOfRows; ++i)
            a.push_back(amx::TileLoadOp::create(builder, aTile, op.getA(),
                                                ValueRange{plus(row, i * rowsOfTile), depth}));
          for (int64_t j = 0; j < tilesOfColumns; ++j)
            b.push_back(amx::TileLoadOp::create(builder, bTile, op.getB(),
                                                ValueRange{group, index(j * rowsOfTile)}));
          for (int64_t i = 0; i < tilesOfRows; ++i)
            for (int64_t j = 0; j < tilesOfColumns; ++j)
              next.push_back(multiply(a[size_t(i)], b[size_t(j)], carried[next.size()]));
          scf::YieldOp::create(builder, next);
        });
    for (int64_t i = 0; i < tilesOfRows; ++i)
      for (int64_t j = 0; j < tilesOfColumns; ++j)
        amx::TileStoreOp::create(builder, memory, place(i, j),
                                 loop.getResult(unsigned(i * tilesOfColumns + j)));
  }

  /// A loop over rows of the sum in steps.
  void overRows(Value first, Value last, int64_t step, function_ref<void(Value)> body) {
    scf::ForOp::create(builder, first, last, index(step), ValueRange{},
                       [&](OpBuilder &, Location, Value row, ValueRange) {
                         body(row);
                         scf::YieldOp::create(builder);
                       });
  }

  void run() {
    auto sumType = cast<MemRefType>(op.getSum().getType());
    const int64_t columns = cast<MemRefType>(op.getB().getType()).getDimSize(1),
                  tilesOfColumns = columns / rowsOfTile;
    Value rows = memref::DimOp::create(builder, op.getSum(), 0), done = index(0);
    if (sumType.getDimSize(1) == columns) {
      // In place, as many rows as fill registers.
      Value most = index(mostTiles * rowsOfTile);
      done = arith::MulIOp::create(builder, arith::DivUIOp::create(builder, rows, most), most);
      overRows(index(0), done, mostTiles * rowsOfTile,
               [&](Value row) { block(mostTiles, tilesOfColumns, row, op.getSum(), row); });
    }
    // What is left, or all of it if its columns do not fill tiles, goes through memory that they fill.
    Value part = op.getRows();
    if (!part) {
      op.erase();
      return;
    }
    Value width = memref::DimOp::create(builder, op.getSum(), 1);
    overRows(done, rows, rowsOfTile, [&](Value row) {
      Value height = arith::MinUIOp::create(builder, arith::SubIOp::create(builder, rows, row),
                                            index(rowsOfTile));
      const OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
      const SmallVector<OpFoldResult> sizes = {height, width}, ones = {one, one};
      Value there = memref::SubViewOp::create(builder, op.getSum(),
                                              SmallVector<OpFoldResult>{row, zero}, sizes, ones),
            here = memref::SubViewOp::create(builder, part, SmallVector<OpFoldResult>{zero, zero},
                                             sizes, ones);
      if (!op.getFromZero())
        memref::CopyOp::create(builder, there, here);
      block(1, tilesOfColumns, row, part, index(0));
      memref::CopyOp::create(builder, here, there);
    });
    op.erase();
  }
};

struct LowerTileProducts : plim::ir::impl::PlimLowerTileProductsBase<LowerTileProducts> {
  void runOnOperation() override {
    SmallVector<TileProductOp> products;
    getOperation().walk([&](TileProductOp op) { products.push_back(op); });
    for (TileProductOp op : products) {
      if (!llvm::all_of(op->getOperandTypes(), [](Type type) {
            auto memory = dyn_cast<MemRefType>(type);
            // Of single elements any distance between them is 1.
            return memory && (memory.isLastDimUnitStride() || memory.getShape().back() == 1);
          })) {
        op.emitOpError("needs memory whose rows have their elements side by side");
        return signalPassFailure();
      }
      Lowering(op).run();
    }
    lowered += unsigned(products.size());
  }
};

} // namespace
