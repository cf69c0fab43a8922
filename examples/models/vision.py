"""Networks for images, as exporters write them."""


def convolution(g, name, x, channels, filters, window, stride=1, groups=1, bias=True, pads=None):
    weight = g.weight(f"{name}.weight", filters, channels // groups, window, window,
                      scale=(2 / (channels // groups * window * window)) ** 0.5)
    inputs = [x, weight] + ([g.weight(f"{name}.bias", filters, scale=0.05)] if bias else [])
    return g.op("Conv", *inputs, dilations=[1, 1], group=groups, kernel_shape=[window, window],
                pads=pads or [window // 2] * 4, strides=[stride, stride])


def batch_norm(g, name, x, channels):
    return g.op("BatchNormalization", x, g.weight(f"{name}.weight", channels, scale=0.1, mean=1.0),
                g.weight(f"{name}.bias", channels, scale=0.1), g.weight(f"{name}.running_mean", channels, scale=0.1),
                g.variance(f"{name}.running_var", channels), epsilon=1e-5, momentum=0.9)


def head(g, x, channels, classes):
    x = g.op("Flatten", g.op("GlobalAveragePool", x), axis=1)
    x = g.op("Gemm", x, g.weight("fc.weight", classes, channels), g.weight("fc.bias", classes, scale=0.1), alpha=1.0,
             beta=1.0, transB=1)
    g.output("logits", x, ["batch", classes])


def image(g, size):
    return g.input("image", ["batch", 3, size, size])


def resnet(g, size, width, blocks, classes, expansion):
    """Of blocks of two convolutions, or with an `expansion` of three that narrow and widen."""
    x = g.op("Relu", convolution(g, "conv1", image(g, size), 3, width, 7, 2))
    x = g.op("MaxPool", x, ceil_mode=0, kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2])
    channels = width
    for stage, count in enumerate(blocks):
        inner = width << stage
        filters = inner * expansion
        for block in range(count):
            name, stride = f"layer{stage + 1}.{block}", 2 if stage and not block else 1
            # Window, filters, stride of each convolution.
            steps = [(1, inner, 1), (3, inner, stride), (1, filters, 1)] if expansion > 1 else \
                [(3, inner, stride), (3, filters, 1)]
            y, have = x, channels
            for i, (window, wanted, step) in enumerate(steps):
                y = convolution(g, f"{name}.conv{i + 1}", y, have, wanted, window, step)
                y, have = y if i + 1 == len(steps) else g.op("Relu", y), wanted
            if channels != filters:
                x = convolution(g, f"{name}.downsample.0", x, channels, filters, 1, stride)
            x, channels = g.op("Relu", g.op("Add", y, x)), filters
    head(g, x, channels, classes)


def resnet18(g, size=224, width=64, blocks=(2, 2, 2, 2), classes=1000):
    resnet(g, size, width, blocks, classes, expansion=1)


def resnet50(g, size=224, width=64, blocks=(3, 4, 6, 3), classes=1000):
    resnet(g, size, width, blocks, classes, expansion=4)


# Expansion, filters, repetitions, stride, window.
MOBILENET = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 32, 3, 2, 3), (6, 64, 4, 2, 3), (6, 96, 3, 1, 3), (6, 160, 3, 2, 3),
             (6, 320, 1, 1, 3))
EFFICIENTNET = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5),
                (6, 192, 4, 2, 5), (6, 320, 1, 1, 3))


def inverted_residuals(g, size, stages, last, classes, normalised):
    """With batch normalisations as nodes of their own, or folded into the convolutions."""
    def layer(name, x, channels, filters, window, stride=1, groups=1, activated=True):
        x = convolution(g, f"{name}.0", x, channels, filters, window, stride, groups, bias=not normalised)
        if normalised:
            x = batch_norm(g, f"{name}.1", x, filters)
        return g.op("Clip", x, 0.0, 6.0) if activated else x

    x = layer("features.0", image(g, size), 3, 32, 3, 2)
    channels, index = 32, 0
    for expansion, filters, count, stride, window in stages:
        for block in range(count):
            index += 1
            name, inner, y = f"features.{index}", expansion * channels, x
            if expansion != 1:
                y = layer(f"{name}.expand", y, channels, inner, 1)
            y = layer(f"{name}.depthwise", y, inner, inner, window, stride if not block else 1, inner)
            y = layer(f"{name}.project", y, inner, filters, 1, activated=False)
            x = g.op("Add", x, y) if block else y
            channels = filters
    head(g, layer("features.last", x, channels, last, 1), last, classes)


def mobilenet_v2(g, size=224, stages=MOBILENET, last=1280, classes=1000):
    inverted_residuals(g, size, stages, last, classes, normalised=False)


def efficientnet_lite(g, size=224, stages=EFFICIENTNET, last=1280, classes=1000):
    inverted_residuals(g, size, stages, last, classes, normalised=True)


def unet(g, size=256, width=32, depth=4, classes=2):
    """Up by transposed convolutions in its lower half, by interpolation in its upper one."""
    def double(name, x, channels, filters):
        for i in (0, 1):
            x = g.op("Relu", convolution(g, f"{name}.{i}", x, channels, filters, 3))
            channels = filters
        return x

    x, skips, channels = double("down0", image(g, size), 3, width), [], width
    for level in range(1, depth + 1):
        skips.append((x, channels))
        x = g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        x, channels = double(f"down{level}", x, channels, 2 * channels), 2 * channels
    for level in reversed(range(depth)):
        skip, filters = skips[level]
        if level >= depth // 2:
            weight = g.weight(f"up{level}.weight", channels, filters, 2, 2, scale=(1 / channels) ** 0.5)
            x = g.op("ConvTranspose", x, weight, g.weight(f"up{level}.bias", filters, scale=0.05), dilations=[1, 1],
                     group=1, kernel_shape=[2, 2], pads=[0] * 4, strides=[2, 2])
        else:
            x = g.op("Resize", x, "", [1.0, 1.0, 2.0, 2.0], coordinate_transformation_mode="half_pixel", mode="linear")
            x = convolution(g, f"up{level}", x, channels, filters, 1)
        x, channels = double(f"join{level}", g.op("Concat", skip, x, axis=1), 2 * filters, filters), filters
    g.output("mask", g.op("Softmax", convolution(g, "last", x, channels, classes, 1), axis=1),
             ["batch", classes, size, size])
