// Strategy: how code is generated for a dispatch. Decided by the plim-choose-* passes from the target and the op
// (ir/Codegen/README.md), carried out by those behind them, printed by `plimsoll explain`.
#ifndef PLIM_STRATEGY
#define PLIM_STRATEGY

include "ir/Plim/PlimBase.td"

def Plim_OperandForm : I32EnumAttr<"OperandForm", "where and how a product reads an operand", [
    I32EnumAttrCase<"InPlace", 0, "in_place">,
    I32EnumAttrCase<"Copied", 1, "copied">,
    I32EnumAttrCase<"Prepared", 2, "prepared">,
    I32EnumAttrCase<"Widened", 3, "widened">,
    I32EnumAttrCase<"Groups", 4, "groups">,
    I32EnumAttrCase<"Tiles", 5, "tiles">]> {
  let cppNamespace = "::plim::ir";
  let genSpecializedAttr = 0;
}

class Plim_StrategyAttr<string name, string attrMnemonic> : AttrDef<Plim_Dialect, name> {
  let mnemonic = attrMnemonic;
  let genVerifyDecl = 1;
}

def Plim_WorkgroupsAttr : Plim_StrategyAttr<"Workgroups", "workgroups"> {
  let summary = "how a dispatch is split";
  let description = [{
    `tiles` has the iterations of each loop of the dispatch's root that a workgroup takes, 0 for all of them.

    ```mlir
    #plim.workgroups<tiles = [128, 0], because = "half the second-level cache has room for 128 rows">
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$tiles, StringRefParameter<>:$because);
  let assemblyFormat = "`<` `tiles` `=` custom<Numbers>($tiles) `,` `because` `=` $because `>`";
}

def Plim_PanelsAttr : Plim_StrategyAttr<"Panels", "panels"> {
  let summary = "how a product reads its operands";
  let description = [{
    A workgroup goes through blocks of `depth` iterations of the loops of the reduction, in each of them through panels of `columns`
    columns, 0 for all of them, and for each panel through all rows. `panel` and `rows` say where elements are read: where they lie
    (`in_place`), from a copy, in the order of panels (`copied`, `widened` to the type of the sum, `groups` for `plim.dot_groups`,
    `tiles` for `plim.tile_product`), or from panels that were made when the module was linked (`prepared`). Before that `lines` lines of
    an image are copied beside each other.

    ```mlir
    #plim.panels<panel = copied, rows = in_place, depth = [512], columns = 32, lines = 1, because = "its rows lie 4096 bytes apart">
    ```
  }];
  let parameters = (ins EnumParameter<Plim_OperandForm>:$panel, EnumParameter<Plim_OperandForm>:$rows,
                        ArrayRefParameter<"int64_t">:$depth, "int64_t":$columns, "int64_t":$lines,
                        StringRefParameter<>:$because);
  let assemblyFormat = [{
    `<` `panel` `=` $panel `,` `rows` `=` $rows `,` `depth` `=` custom<Numbers>($depth) `,` `columns` `=` $columns `,`
    `lines` `=` $lines `,` `because` `=` $because `>`
  }];
}

def Plim_StoresAttr : Plim_StrategyAttr<"Stores", "stores"> {
  let summary = "results are written past the caches";
  let description = [{
    Nontemporal stores: lines of the result are not read before they are written, and drive nothing out of the caches.

    ```mlir
    #plim.stores<because = "67108864 bytes are more than the last cache keeps">
    ```
  }];
  let genVerifyDecl = 0;
  let parameters = (ins StringRefParameter<>:$because);
  let assemblyFormat = "`<` `because` `=` $because `>`";
}

def Plim_RegistersAttr : Plim_StrategyAttr<"Registers", "registers"> {
  let summary = "which accumulators of a reduction are in registers";
  let description = [{
    A tile of `rows` iterations of the loop `row_loop` (-1 for none) by `columns` of `column_loop`, in vectors of `lanes` elements.
    It sees `terms` iterations of the last loop of the reduction before the next tile does, and waits in the nearest cache; 0 for all.

    ```mlir
    #plim.registers<rows = 12, row_loop = 0, columns = 32, column_loop = 1, lanes = 16, terms = 0, because = "24 of 32 registers">
    ```
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$rowLoop, "int64_t":$columns, "int64_t":$columnLoop, "int64_t":$lanes,
                        "int64_t":$terms, StringRefParameter<>:$because);
  let assemblyFormat = [{
    `<` `rows` `=` $rows `,` `row_loop` `=` $rowLoop `,` `columns` `=` $columns `,` `column_loop` `=` $columnLoop `,`
    `lanes` `=` $lanes `,` `terms` `=` $terms `,` `because` `=` $because `>`
  }];
}

#endif
