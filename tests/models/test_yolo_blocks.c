/* SPDX-License-Identifier: Apache-2.0 */
/* Every module of Ultralytics' that skitter knows, alone in a small model: what becomes of it, an operation a line, and what that
 * computes; or the words it is refused with. Compared with tests/models/whole/blocks.txt, whose lines were read beside
 * Ultralytics' own forward functions. */
#include "graph_words.h"
#include "support/test.h"
#include "support/yolo_writer.h"

#include "base/memory.h"
#include "graph/reference.h"
#include "models/model.h"

#include <stdio.h>
#include <string.h>

static sk_error err;

#define BOTTLENECK "Bottleneck{cv1:Conv(4,4,3) cv2:Conv(4,4,3) add=T}"
#define REP        "RepConv{conv1:Conv(4,4,3) conv2:Conv(4,4,1) bn:BatchNorm2d(4) act:SiLU}"
#define POOL(k, p) "MaxPool2d{kernel_size=" #k " stride=1 padding=" #p " dilation=1}"
#define ATTENTION                                                                                            \
    "Attention{qkv:Conv(8,16,1) proj:Conv(8,8,1) pe:Conv(8,8,3,1,8) num_heads=2 key_dim=2 head_dim=4}"
#define AREA "AAttn{qkv:Conv(4,12,1) proj:Conv(4,4,1) pe:Conv(4,4,7,1,4) num_heads=2 head_dim=2 area=4}"
#define FEED "Sequential{0:Conv(8,16,1) 1:Conv(16,8,1)}"

static const char *const blocks[] = {
    /* convolutions */
    "Conv(8,8,3,2)", "Conv(8,8,5,1,4)", "DWConv(8,8,3,1,8)", "Conv2d(8,8,3,1,2,1)", "Conv2d(8,8,1)",
    "Conv2{conv:Conv2d(8,8,3) cv2:Conv2d(8,8,1,1,1,1) bn:BatchNorm2d(8) act:ReLU}",
    "Conv2{conv:Conv2d(8,8,3,1,1,1) cv2:Conv2d(8,8,1) act:Identity}",
    "RepConv{conv1:Conv(8,8,3) conv2:Conv(8,8,1) act:SiLU}",
    "RepConv{conv1:Conv(8,8,3,1,2) conv2:Conv(8,8,1,1,2) bn:BatchNorm2d(8,0) act:SiLU}",
    "RepConv{conv:Conv2d(8,8,3,1,1,1) act:SiLU}", "RepConv{conv1:Conv(8,8,3,2) conv2:Conv(8,8,1,2) act:SiLU}",
    "RepVGGDW{conv:Conv(8,8,7,1,8) conv1:Conv(8,8,3,1,8) act:SiLU}",
    "RepVGGDW{conv:Conv(8,8,7,1,8) act:SiLU}", "RepVGGDW{conv:Conv2d(8,8,7,1,8,1) act:SiLU}",
    "Transposed(8,8,2,2,1,1)", "Transposed(8,4,3,2,4,0,1){output_padding=(1,0)}",
    "ConvTranspose{conv_transpose:Transposed(8,8,2,2,2,1) bn:BatchNorm2d(8) act:SiLU}",
    "ConvTranspose{conv_transpose:Transposed(8,6,2,2,2) bn:BatchNorm2d(6,0) act:SiLU}",
    "ConvTranspose{conv_transpose:Transposed(8,8,2,2) bn:Identity act:Identity}",
    "LightConv{conv1:Conv(8,8,1) conv2:DWConv(8,8,3,1,8)}", "BatchNorm2d(8)", "BatchNorm2d(8){eps=0.25}",
    /* activations */
    "SiLU", "ReLU", "GELU", "GELU{approximate='tanh'}", "GELU{approximate='none'}", "LeakyReLU",
    "LeakyReLU{negative_slope=0.2}", "ELU", "ELU{alpha=0.5}", "ReLU6", "Mish", "Hardswish", "Hardsigmoid",
    "Sigmoid", "Tanh",
    /* torch's own */
    "Identity", "Silence", "Dropout", "Sequential{}", "Sequential{0:Identity 1:ReLU a:Tanh}",
    "MaxPool2d{kernel_size=3 stride=2 padding=1 dilation=1}", "MaxPool2d{kernel_size=2}",
    "MaxPool2d{kernel_size=(2,3) stride=(1,2) padding=(1,0) dilation=(1,1) ceil_mode=T}",
    "AvgPool2d{kernel_size=3 stride=N padding=1}",
    "AvgPool2d{kernel_size=(3) stride=2 padding=1 ceil_mode=T count_include_pad=F}", "AdaptiveAvgPool2d",
    "AdaptiveAvgPool2d{output_size=1}", "AdaptiveAvgPool2d{output_size=(1,1)}", "Upsample{scale_factor=2}",
    "Upsample{scale_factor=1.5 mode='nearest'}", "Upsample{scale_factor=(2) mode='bilinear'}",
    "Upsample{scale_factor=64.0 mode='bilinear' align_corners=F}", "Upsample{scale_factor=1}",
    "ZeroPad2d{padding=(1,2,3,4)}", "ZeroPad2d{padding=(0,0,0,16)}",
    /* composed */
    "Bottleneck{cv1:Conv(8,4,1) cv2:Conv(4,8,3) add=T}", "Bottleneck{cv1:Conv(8,4,1) cv2:Conv(4,8,3) add=F}",
    "RepBottleneck{cv1:Conv(8,4,1) cv2:Conv(4,8,3)}", "C1{cv1:Conv(8,8,1) m:Sequential{0:Conv(8,8,3)}}",
    "C2{cv1:Conv(8,8,1) cv2:Conv(8,8,1) m:Sequential{0:" BOTTLENECK "}}",
    "C2f{cv1:Conv(8,8,1) cv2:Conv(16,8,1) m:ModuleList{0:" BOTTLENECK " 1:" BOTTLENECK "}}",
    "C2f{cv1:Conv(8,8,1) cv2:Conv(8,8,1) m:ModuleList{}}",
    "C3k2{cv1:Conv(8,8,1) cv2:Conv(12,8,1) m:ModuleList{0:C3k{cv1:Conv(4,2,1) cv2:Conv(4,2,1) "
    "cv3:Conv(4,4,1) "
    "m:Sequential{0:Identity}}}}",
    "C2fCIB{cv1:Conv(8,8,1) cv2:Conv(12,8,1) m:ModuleList{0:CIB{cv1:Sequential{0:Conv(4,4,3,1,4)} add=T}}}",
    "C2fPSA{cv1:Conv(8,16,1) cv2:Conv(24,8,1) m:ModuleList{0:PSABlock{attn:" ATTENTION " ffn:" FEED "}}}",
    "C3{cv1:Conv(8,4,1) cv2:Conv(8,4,1) cv3:Conv(8,8,1) m:Sequential{0:" BOTTLENECK "}}",
    "C3x{cv1:Conv(8,4,1) cv2:Conv(8,4,1) cv3:Conv(8,8,1) m:Identity}",
    "C3Ghost{cv1:Conv(8,4,1) cv2:Conv(8,4,1) cv3:Conv(8,8,1) m:Identity}",
    "RepCSP{cv1:Conv(8,4,1) cv2:Conv(8,4,1) cv3:Conv(8,8,1) m:" REP "}",
    "C3f{cv1:Conv(8,4,1) cv2:Conv(8,4,1) cv3:Conv(16,8,1) m:ModuleList{0:" BOTTLENECK " 1:" BOTTLENECK "}}",
    "RepC3{cv1:Conv(8,4,1) cv2:Conv(8,4,1) cv3:Conv(4,8,1) m:Sequential{0:" REP "}}",
    "BottleneckCSP{cv1:Conv(8,4,1) cv2:Conv2d(8,4,1) cv3:Conv2d(4,4,1) cv4:Conv(8,8,1) bn:BatchNorm2d(8) "
    "act:Tanh "
    "m:Sequential{0:" BOTTLENECK "}}",
    "GhostConv{cv1:Conv(8,4,1) cv2:Conv(4,4,5,1,4)}",
    "GhostBottleneck{conv:GhostConv{cv1:Conv(8,4,1) cv2:Conv(4,4,5,1,4)} shortcut:Conv(8,8,1)}",
    "CIB{cv1:Conv(8,8,3,1,8) add=T}", "CIB{cv1:Conv(8,8,3,1,8) add=F}",
    /* pyramids */
    "SPP{cv1:Conv(8,4,1) cv2:Conv(16,8,1) m:ModuleList{0:" POOL(3, 1) " 1:" POOL(5, 2) " 2:" POOL(9, 4) "}}",
    "SPPF{cv1:Conv(8,4,1) cv2:Conv(16,8,1) m:" POOL(5, 2) "}",
    "SPPF{cv1:Conv(8,4,1) cv2:Conv(12,8,1) m:" POOL(5, 2) " n=2 add=T}",
    "SPPF{cv1:Conv(8,4,1) cv2:Conv(4,8,1) m:" POOL(5, 2) " n=0 add=F}",
    "SPPELAN{cv1:Conv(8,4,1) cv2:" POOL(3, 1) " cv3:" POOL(5, 2) " cv4:" POOL(7, 3) " cv5:Conv(16,8,1)}",
    "RepNCSPELAN4{cv1:Conv(8,8,1) cv2:Sequential{0:Conv(4,4,3)} cv3:Sequential{0:Conv(4,4,3)} "
    "cv4:Conv(16,8,1)}",
    "ELAN1{cv1:Conv(8,4,1) cv2:Conv(2,3,3) cv3:Conv(3,1,3) cv4:Conv(8,8,1)}",
    /* downsampling */
    "AConv{cv1:Conv(8,8,3,2)}", "ADown{cv1:Conv(4,4,3,2) cv2:Conv(4,4,1)}",
    "SCDown{cv1:Conv(8,8,1) cv2:Conv(8,8,3,2,8)}", "Focus{conv:Conv(32,8,1)}",
    /* other backbones */
    "HGStem{stem1:Conv(8,4,3,2) stem2a:Conv(4,2,2,1,1,0,0) stem2b:Conv(2,4,2,1,1,0,0) stem3:Conv(8,4,3,2) "
    "stem4:Conv(4,8,1) pool:MaxPool2d{kernel_size=2 stride=1 padding=0 dilation=1 ceil_mode=T}}",
    "HGBlock{m:ModuleList{0:Conv(8,4,3) 1:Conv(4,4,3)} sc:Conv(16,4,1) ec:Conv(4,8,1) add=T}",
    "HGBlock{m:ModuleList{0:Conv(8,4,3)} sc:Conv(12,4,1) ec:Conv(4,8,1) add=F}",
    "ResNetBlock{cv1:Conv(8,4,1) cv2:Conv(4,4,3) cv3:Conv(4,8,1) shortcut:Conv(8,8,1)}",
    "ResNetLayer{layer:Sequential{0:Conv(8,8,3)}}",
    "Proto{cv1:Conv(8,4,3) upsample:Transposed(4,4,2,2,1,1) cv2:Conv(4,4,3) cv3:Conv(4,8,1)}",
    /* attention */
    ATTENTION,
    "Attention{qkv:Conv(8,16,1) proj:Conv(8,8,1) pe:Conv(8,8,3,1,8) num_heads=2 key_dim=2 head_dim=4 "
    "scale=0.75}",
    "PSABlock{attn:" ATTENTION " ffn:" FEED " add=T}", "PSABlock{attn:" ATTENTION " ffn:" FEED " add=F}",
    "PSA{cv1:Conv(8,16,1) cv2:Conv(16,8,1) attn:" ATTENTION " ffn:" FEED "}",
    "C2PSA{cv1:Conv(8,16,1) cv2:Conv(16,8,1) m:Sequential{0:PSABlock{attn:" ATTENTION " ffn:" FEED
    " add=T}}}",
    "AAttn{qkv:Conv(8,24,1) proj:Conv(8,8,1) pe:Conv(8,8,7,1,8) num_heads=2 head_dim=4}",
    "AAttn{qk:Conv(8,16,1) v:Conv(8,8,1) proj:Conv(8,8,1) pe:Conv(8,8,5,1,8) num_heads=4 head_dim=2 area=2}",
    "A2C2f{cv1:Conv(8,4,1) cv2:Conv(12,8,1) m:ModuleList{0:Sequential{0:ABlock{attn:" AREA
    " mlp:Conv(4,4,1)}} 1:" BOTTLENECK "} gamma:Parameter(8)}",
    "A2C2f{cv1:Conv(8,4,1) cv2:Conv(4,8,1) m:ModuleList{}}",
    /* what cannot be */
    "Mystery{}", "Sequential{0:Mystery{}}", "C3{cv1:Conv(8,4,1) cv2:Conv(8,4,1) cv3:Conv(8,8,1)}",
    "Conv{conv:Conv2d(8,8,3) bn:BatchNorm2d(8)}", "Conv{conv:Conv2d(8,8,3) act:Sequential{}}",
    "Conv{conv:Linear bn:BatchNorm2d(8) act:SiLU}", "Conv{bn:BatchNorm2d(8) act:SiLU}",
    "Conv{conv:Conv2d(8,8,3) bn:BatchNorm2d(7) act:SiLU}", "Conv2d(8,8,3){padding_mode='reflect'}",
    "Conv2d(8,8,3){padding_mode='zeros'}", "Conv2d{kernel_size=3 stride=1 padding=1}",
    "Conv2d{kernel_size=3 stride=0 padding=1}", "Conv2d{kernel_size=3 stride=1}",
    "Conv2{conv:Conv2d(8,8,3) cv2:Conv2d(8,8,2) act:SiLU}",
    "Conv2{conv:Conv2d(8,8,1) cv2:Conv2d(8,8,3) act:SiLU}",
    "Conv2{conv:Conv2d(8,8,3,2) cv2:Conv2d(8,8,1) act:SiLU}",
    "Conv2{conv:Conv2d(8,8,3) cv2:Conv2d(8,8,1,1,1,0,1) act:SiLU}",
    "Conv2{conv:Conv2d(8,8,3) cv2:Conv2d(8,8,1,1,2) act:SiLU}",
    "Conv2{conv:Conv2d(8,8,3) cv2:Conv2d(8,4,1) act:SiLU}",
    "RepConv{conv1:Conv(8,4,3) conv2:Conv(8,4,1) bn:BatchNorm2d(4) act:SiLU}",
    "RepConv{conv1:Conv(8,8,3,2) conv2:Conv(8,8,1,2) bn:BatchNorm2d(8) act:SiLU}",
    "RepConv{conv1:Conv(8,8,2,1,1,0,0) conv2:Conv(8,8,2,1,1,0,0) bn:BatchNorm2d(8) act:SiLU}",
    "RepConv{act:SiLU}", "ConvTranspose{bn:BatchNorm2d(8) act:SiLU}",
    "ConvTranspose{conv_transpose:Transposed(8,8,2,2) bn:BatchNorm2d(4) act:SiLU}",
    "Transposed(8,8,2,2){output_padding='1'}", "Transposed(8,8,2,2){output_padding=(-1,0)}",
    "ConvTranspose2d{kernel_size=2 stride=2 padding=0}", "MaxPool2d", "MaxPool2d{kernel_size=0}",
    "MaxPool2d{kernel_size=1024 stride=1 padding=512}", "MaxPool2d{kernel_size=1025}",
    "MaxPool2d{kernel_size=3 stride=0}", "MaxPool2d{kernel_size=3 stride=1024}",
    "MaxPool2d{kernel_size=3 stride=1025}", "MaxPool2d{kernel_size=3 padding=2}",
    "MaxPool2d{kernel_size=3 padding=-1}", "MaxPool2d{kernel_size=3 dilation=2}",
    "MaxPool2d{kernel_size=3 dilation='1'}", "MaxPool2d{kernel_size=(3,3,3)}", "AvgPool2d{kernel_size=(3,0)}",
    "AdaptiveAvgPool2d{output_size=2}", "AdaptiveAvgPool2d{output_size=(1,2)}",
    "AdaptiveAvgPool2d{output_size='1'}", "Upsample", "Upsample{scale_factor='2'}",
    "Upsample{scale_factor=0.5}", "Upsample{scale_factor=65}",
    "Upsample{scale_factor=2 mode='bilinear' align_corners=T}", "Upsample{scale_factor=2 mode='bicubic'}",
    "ZeroPad2d{padding=(1,2,3)}", "ZeroPad2d{padding=(1,2,3,-1)}", "ZeroPad2d{padding=(1,2,3,1024)}",
    "ZeroPad2d{padding=(1,2,3,1025)}", "ZeroPad2d", "C2f{cv1:Conv(8,8,1) cv2:Conv(16,8,1)}",
    "SPP{cv1:Conv(8,4,1) cv2:Conv(4,8,1)}", "SPPF{cv1:Conv(8,4,1) cv2:Conv(4,8,1) m:" POOL(5, 2) " n=-1}",
    "SPPF{cv1:Conv(8,4,1) cv2:Conv(4,8,1) m:" POOL(5, 2) " n=100000}",
    "Attention{qkv:Conv(8,16,1) proj:Conv(8,8,1) pe:Conv(8,8,3,1,8) num_heads=2 key_dim=2}",
    "Attention{num_heads=0 key_dim=2 head_dim=4}", "Attention{num_heads=4097 key_dim=2 head_dim=4}",
    "Attention{num_heads=4096 key_dim=4096 head_dim=4096}", "Attention{num_heads=1 key_dim=1 head_dim=1}",
    "Attention{num_heads=2 key_dim=0 head_dim=4}", "Attention{num_heads=2 key_dim=4097 head_dim=4}",
    "Attention{num_heads=2 key_dim=2 head_dim=4097}", "AAttn{num_heads=1 head_dim=1 area=0}",
    "AAttn{num_heads=1 head_dim=1 area=1024}", "AAttn{num_heads=1 head_dim=1 area=1025}",
    "AAttn{num_heads=0 head_dim=1}", "AAttn{num_heads=4096 head_dim=4096}",
    "AAttn{num_heads=4097 head_dim=1}", "AAttn{num_heads=1 head_dim=0}", "AAttn{num_heads=1 head_dim=4097}",
    "Attention{key_dim=1 head_dim=1}", "Attention{num_heads=1 head_dim=1}",
    "Attention{num_heads=1 key_dim=1}", "AAttn{head_dim=1}", "AAttn{num_heads=1}",
    /* windows at their bounds, each side for itself: those that are taken have no weights */
    "Conv2d{kernel_size=(1,1024) stride=(1024,1) padding=(0,1024) dilation=(1,1024)}",
    "Conv2d{kernel_size=(1024,1) stride=(1,1024) padding=(1024,0) dilation=(1024,1)}",
    "Conv2d{kernel_size=(1,1025) stride=1 padding=0}", "Conv2d{kernel_size=(1025,1) stride=1 padding=0}",
    "Conv2d{kernel_size=(0,1) stride=1 padding=0}", "Conv2d{kernel_size=(1,0) stride=1 padding=0}",
    "Conv2d{kernel_size=1 stride=(0,1) padding=0}", "Conv2d{kernel_size=1 stride=(1,0) padding=0}",
    "Conv2d{kernel_size=1 stride=(1025,1) padding=0}", "Conv2d{kernel_size=1 stride=(1,1025) padding=0}",
    "Conv2d{kernel_size=1 stride=1 padding=(-1,0)}", "Conv2d{kernel_size=1 stride=1 padding=(0,-1)}",
    "Conv2d{kernel_size=1 stride=1 padding=(0,1025)}",
    "Conv2d{kernel_size=1 stride=1 padding=0 dilation=(0,1)}",
    "Conv2d{kernel_size=1 stride=1 padding=0 dilation=(1,0)}",
    "Conv2d{kernel_size=1 stride=1 padding=0 dilation=(1025,1)}",
    "Conv2d{kernel_size=1 stride=1 padding=0 dilation='1'}", "Conv2d{kernel_size=1 padding=0}",
    "Conv2d{stride=1 padding=0}", "Conv2d(8,8,3){stride=(2,1) dilation=(1,2)}",
    "MaxPool2d{kernel_size=0 stride=1}", "MaxPool2d{kernel_size=(3,0) stride=1}",
    "MaxPool2d{kernel_size=(1025,3) stride=1}", "MaxPool2d{kernel_size=3 stride=(1,0)}",
    "MaxPool2d{kernel_size=3 stride=(1025,1)}", "MaxPool2d{kernel_size=3 stride=1 padding=(1,2)}",
    "MaxPool2d{kernel_size=3 stride=1 padding=(1,-1)}", "MaxPool2d{kernel_size=3 stride=1 dilation=(1,2)}",
    "MaxPool2d{kernel_size=3 stride=1 dilation=0}",
    /* weights that are not what the module says */
    "Conv2d(8,8,3){groups=0}", "Conv2d(8,8,3){groups=2}", "Conv2d(8,8,3){groups=65537}", "Conv2d(8,6,1,1,4)",
    "Conv2d(8,8,3){in_channels=9}", "Conv2d(8,8,3){out_channels=9}", "Conv2d(8,8,3){kernel_size=(3,5)}",
    "Conv2d(8,8,3){kernel_size=(5,3)}", "Transposed(8,8,2,2){groups=0}", "Transposed(8,8,2,2){groups=3}",
    "Transposed(8,8,2,2){groups=65537}", "Transposed(8,8,2,2){out_channels=9}",
    "Transposed(8,8,2,2){kernel_size=(2,3)}", "Transposed(8,8,2,2){kernel_size=(3,2)}",
    "Transposed(8,8,2,2){output_padding=(0,-1)}", "Transposed(8,8,2,2){output_padding=(0,1025)}",
    /* a norm that divides by nothing, or by less */
    "Conv{conv:Conv2d(8,8,1) bn:BatchNorm2d(8){eps=-5.0} act:SiLU}",
    "ConvTranspose{conv_transpose:Transposed(8,8,2,2) bn:BatchNorm2d(8){eps=-5.0} act:SiLU}",
    "RepConv{conv1:Conv(8,8,3) conv2:Conv(8,8,1) bn:BatchNorm2d(8){eps=-5.0} act:SiLU}",
    "RepConv{conv1:Conv(8,8,3) conv2:Conv(8,8,1) bn:BatchNorm2d(7) act:SiLU}",
    /* parallel convolutions that do not fit onto each other in one direction alone */
    "Conv2{conv:Conv2d(8,8,3){stride=(1,2)} cv2:Conv2d(8,8,1) act:SiLU}",
    "Conv2{conv:Conv2d(8,8,3){dilation=(1,2)} cv2:Conv2d(8,8,1) act:SiLU}",
    "Conv2{conv:Conv2d(8,8,3) cv2:Conv2d(8,8,1){dilation=(2,1)} act:SiLU}",
    "Conv2{conv:Conv2d(8,8,3) cv2:Conv2d(8,8,1){padding=(0,1)} act:SiLU}",
    "Conv2{conv:Conv2d(8,8,3) cv2:Conv2d(8,8,3) act:SiLU}",
    "Conv2{conv:Conv2d(8,8,3,1,2) cv2:Conv2d(4,8,1) act:SiLU}",
    "Conv2{conv:Conv2d(8,8,3) cv2:Conv2d(8,8,1){groups=0} act:SiLU}",
    "RepConv{conv1:Conv{conv:Conv2d(8,8,3){stride=(1,2)} act:SiLU} "
    "conv2:Conv{conv:Conv2d(8,8,1){stride=(1,2)} "
    "act:SiLU} bn:BatchNorm2d(8) act:SiLU}",
    "RepConv{conv1:Conv{conv:Conv2d(8,8,3){stride=(2,1)} act:SiLU} "
    "conv2:Conv{conv:Conv2d(8,8,1){stride=(2,1)} "
    "act:SiLU} bn:BatchNorm2d(8) act:SiLU}",
    "RepConv{conv1:Conv(8,8,3) conv2:Conv(8,8,2) act:SiLU}",
    "RepConv{conv1:Mystery{} conv2:Conv(8,8,1) act:SiLU}", "Sequential{0:Conv2d}",
    "C2f{cv1:Conv(8,8,1) cv2:Conv(12,8,1) m:ModuleList{0:Mystery{}}}"};

/* --- what became of it --- */

static bool reads_weight(const sk_graph *g, const sk_node *n, const char *name)
{
    return n->op == SK_OP_CONV && strcmp(g->values[n->in[1]].name, name) == 0;
}

/* The block's nodes lie behind layer 1's activation and before layer 3's first convolution. */
static size_t put_block(const sk_graph *g, sk_text *out)
{
    size_t from = 0, to = 0;
    int line[4096] = {0}, next = 0;
    assert_true(g->n_values < 4096);
    while (!reads_weight(g, &g->nodes[from], "model.1.weight"))
        from++;
    from += 2;
    while (!reads_weight(g, &g->nodes[to], "model.3.cv1.weight"))
        to++;
    for (size_t i = from; i < to; i++)
        words_node(g, &g->nodes[i], line, &next, out);
    sk_text_append(out, "    gives ");
    words_value(g, g->nodes[to].in[0], line, out);
    sk_text_append(out, "\n");
    return to;
}

/* What the nodes before `end` compute of a picture of waves: the size, and all numbers as one. The head, and whether the block
 * fits it, do not matter. */
static void put_numbers(sk_graph *g, size_t end, sk_text *out)
{
    const size_t all = g->n_nodes;
    static float picture[3 * 32 * 48];
    sk_tensor in = {SK_DTYPE_F32, sk_shape_of(4, 1, 3, 32, 48), picture}, got = {0};
    sk_graph *fixed = NULL;
    char shape[SK_SHAPE_TEXT];
    for (int i = 0; i < 3 * 32 * 48; i++)
        picture[i] = (float)((i * 37 + i / 48 * 11) % 101) / 101.0f;
    g->outputs[0] = g->nodes[end].in[0];
    g->n_outputs = 1;
    g->n_nodes = end;
    const sk_status status = sk_graph_specialise(g, &in.shape, 1, &fixed, &err);
    g->n_nodes = all;
    if (status != SK_OK) {
        sk_text_appendf(out, "    %d: %s\n", err.code, err.message);
        return;
    }
    assert_ok(sk_reference_run(fixed, &in, 1, &got, 1, &err), &err);
    recorded_sum sum = {0};
    for (int64_t i = 0; i < sk_shape_count(&got.shape); i++)
        recorded_add(&sum, sk_tensor_at(&got, i));
    sk_text_appendf(out, "    of [%s] ~%.6g\n", sk_shape_text(&got.shape, shape, sizeof shape), sum.sum);
    sk_free(got.data);
    sk_graph_close(&fixed);
}

static void blocks_are_what_ultralytics_computes(void **state)
{
    (void)state;
    sk_text all = {0};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        const yolo_fixture f = {.f32 = true, .block = blocks[i]};
        const char *path = yolo_save(&f, "block.pt"), *words;
        sk_model *model = NULL;
        sk_text_appendf(&all, "%s\n", blocks[i]);
        if (sk_model_open(path, &model, &err) != SK_OK) {
            words = strncmp(err.message, path, strlen(path)) == 0 ? err.message + strlen(path) : err.message;
            sk_text_appendf(&all, "    %d%s\n", err.code, words);
            continue;
        }
        put_numbers(model->graph, put_block(model->graph, &all), &all);
        sk_model_close(&model);
    }
    words_check(&all, "tests/models/whole/blocks.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_are_what_ultralytics_computes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
