// Random program, seed 1322, --oracle --threads 1
// with less elements, no error, wanted one: a slice from 4 to 12 of extent 12
// RUN-FUNCTION: @main
// TOLERANCE: 0
// CASE:
// INPUT: index=5479211253098180630
// INPUT: 13xindex=1 1 -3 0 3 -3 0 -2 -2 -1 -1 2 1
// INPUT: index=8268274682100004869
// INPUT: 5xindex=1 1 3 2 -2
// INPUT: index=-6587259372946367918
// INPUT: 13xindex=4546424400437463119 2158401376175096556 -5725372311435171182 -6973471635146494908 3538748661631520192 -8742405261645833491 -3770870516230222158 -1235562794993253602 -3998396173099106250 8972004605754877187 3280330659685416607 -5281956726124453552 1327294727312771082
// INPUT: 13xindex=-3554094596701665697 6536423289940339731 -6768801116159467904 -8814046862638422125 -479836923879522315 -7858799949507456573 -5167699112457510966 -8438630772020539078 -4591408879421719320 2821606062622920308 -8826555449945973377 -6428260866208188536 6275392249402187654

func.func @main(%0: tensor<index>, %1: tensor<?xindex>, %2: tensor<index>, %3: tensor<5xindex>, %4: tensor<index>, %5: tensor<?xindex>, %6: tensor<?xindex>) -> (tensor<index>) {
  %7 = tensor.insert_slice %3 into %5[4] [5] [2] : tensor<5xindex> into tensor<?xindex>
  %8 = arith.constant 0 : index
  %9 = tensor.dim %3, %8 : tensor<5xindex>
  %10 = arith.constant 3 : index
  %11 = arith.cmpi ult, %9, %10 : index
  %12:2 = scf.if %11 -> (tensor<?xindex>, tensor<index>) {
    scf.yield %6, %2 : tensor<?xindex>, tensor<index>
  } else {
    scf.yield %1, %0 : tensor<?xindex>, tensor<index>
  }
  return %12#1 : tensor<index>
}
