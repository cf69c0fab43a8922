spirv.module Logical GLSL450 requires #spirv.vce<v1.3, [Shader], [SPV_KHR_storage_buffer_storage_class]> {
  spirv.GlobalVariable @gid built_in("GlobalInvocationId") : !spirv.ptr<vector<3xi32>, Input>
  spirv.GlobalVariable @num built_in("NumWorkgroups") : !spirv.ptr<vector<3xi32>, Input>
  spirv.GlobalVariable @x bind(0, 0) : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
  spirv.GlobalVariable @y bind(0, 1) : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
  spirv.GlobalVariable @words : !spirv.ptr<!spirv.struct<(i32 [0], i32 [4], f32 [8])>, PushConstant>
  spirv.func @scale() "None" {
    %c0 = spirv.Constant 0 : i32
    %c1 = spirv.Constant 1 : i32
    %c2 = spirv.Constant 2 : i32
    %c64 = spirv.Constant 64 : i32
    %gidp = spirv.mlir.addressof @gid : !spirv.ptr<vector<3xi32>, Input>
    %gidv = spirv.Load "Input" %gidp : vector<3xi32>
    %gid = spirv.CompositeExtract %gidv[0 : i32] : vector<3xi32>
    %nump = spirv.mlir.addressof @num : !spirv.ptr<vector<3xi32>, Input>
    %numv = spirv.Load "Input" %nump : vector<3xi32>
    %num = spirv.CompositeExtract %numv[0 : i32] : vector<3xi32>
    %step = spirv.IMul %num, %c64 : i32
    %wp = spirv.mlir.addressof @words : !spirv.ptr<!spirv.struct<(i32 [0], i32 [4], f32 [8])>, PushConstant>
    %np = spirv.AccessChain %wp[%c0] : !spirv.ptr<!spirv.struct<(i32 [0], i32 [4], f32 [8])>, PushConstant>, i32 -> !spirv.ptr<i32, PushConstant>
    %n = spirv.Load "PushConstant" %np : i32
    %ap = spirv.AccessChain %wp[%c2] : !spirv.ptr<!spirv.struct<(i32 [0], i32 [4], f32 [8])>, PushConstant>, i32 -> !spirv.ptr<f32, PushConstant>
    %a = spirv.Load "PushConstant" %ap : f32
    %xb = spirv.mlir.addressof @x : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
    %yb = spirv.mlir.addressof @y : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
    spirv.mlir.loop {
      spirv.Branch ^header(%gid : i32)
    ^header(%i : i32):
      %go = spirv.SLessThan %i, %n : i32
      spirv.BranchConditional %go, ^body, ^merge
    ^body:
      %xp = spirv.AccessChain %xb[%c0, %i] : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>, i32, i32 -> !spirv.ptr<f32, StorageBuffer>
      %yp = spirv.AccessChain %yb[%c0, %i] : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>, i32, i32 -> !spirv.ptr<f32, StorageBuffer>
      %xv = spirv.Load "StorageBuffer" %xp : f32
      %m = spirv.FMul %a, %xv : f32
      spirv.Store "StorageBuffer" %yp, %m : f32
      spirv.Branch ^continue
    ^continue:
      %next = spirv.IAdd %i, %step : i32
      spirv.Branch ^header(%next : i32)
    ^merge:
      spirv.mlir.merge
    }
    spirv.Return
  }
  spirv.EntryPoint "GLCompute" @scale, @gid, @num
  spirv.ExecutionMode @scale "LocalSize", 64, 1, 1
}
