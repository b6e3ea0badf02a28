"""C source of a hash table, an interpreter loop and declarations of all kinds, parsed and written
again."""

from pycparser import c_generator, c_parser

PART = """\
typedef struct node_N { struct node_N *next; const char *key; union { long i; double d; } value; unsigned flags : 3; } node_N;
enum color_N { RED_N, GREEN_N = 5, BLUE_N = GREEN_N << 2 };
static node_N *table_N[1 << 8];
extern int (*compare_N)(const void *, const void *);

static unsigned long hash_N(const char *key)
{
    unsigned long h = 5381ul;
    while (*key) h = (h << 5) + h ^ (unsigned char) *key++;
    return h % (sizeof table_N / sizeof table_N[0]);
}

node_N *find_N(const char *key, int make)
{
    node_N **at = &table_N[hash_N(key)], *found;
    for (; *at != 0 && compare_N((*at)->key, key) != 0; at = &(*at)->next) ;
    if (*at == 0 && make) {
        found = allocate(sizeof(node_N));
        found->key = key; found->next = 0; found->value.i = -1; found->flags |= 0x4;
        *at = found;
    }
    return *at ? *at : (node_N *) 0;
}

int run_N(const unsigned char *code, double stack[16])
{
    int top = -1, steps = 0;
    do {
        switch (*code++) {
        case 0: return steps;
        case 1: stack[++top] = *code++ * 1.5e-1; break;
        case 2: case 3: top--; stack[top] = code[-1] == 2 ? stack[top] + stack[top + 1] : stack[top] * stack[top + 1]; break;
        default: goto bad;
        }
        if (++steps > 100 && !(steps & 7)) continue;
    } while (top >= 0);
bad:
    return -(steps + 'x');
}
"""
SOURCE = "\n".join(PART.replace("_N", f"_{n}") for n in range(4))


def work():
    tree = c_parser.CParser().parse(SOURCE, "table.c")
    return c_generator.CGenerator().visit(tree)
