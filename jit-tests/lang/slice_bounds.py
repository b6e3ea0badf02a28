import sys
class D:
    def __init__(s,n): s.n=n
    def __del__(s): print("del",s.n, end=" ")
class L(list): pass
class I:
    def __init__(s,v): s.v=v
    def __index__(s): return s.v
def get(a,i,j): return a[i:j]
def put(a,i,j,v): a[i:j]=v
vals=[None,0,1,-1,2,5,-5,100,-100,2**70,-2**70,True,I(2),2**62,-2**62]
for _ in range(40):
  get([1,2,3],0,2); put([1,2,3],0,1,[4])
for t in ([1,2,3,4,5],(1,2,3,4,5),"añb€c",b"abcde",L([1,2,3]),[],(),""):
    for i in vals:
        for j in vals:
            try: print(get(t,i,j), end=" ")
            except Exception as e: print(repr(e),end=" ")
            if isinstance(t,list):
                for v in ([],[9],[9,8],(7,6),range(3),"xy",5,t):
                    c=type(t)(t)
                    if v is t: v=c
                    try: put(c,i,j,v); print(c,end=" ")
                    except Exception as e: print(repr(e),end=" ")
    print()
a=[D(1),D(2),D(3)]
put(a,0,2,[D(4),D(5)]); print(len(a)); put(a,None,None,[1,2,3]); print(a)
t=(1,2,3); print(get(t,None,None) is t, get("abc",None,None)=="abc")
for bad in (1.5,"x",[]):
    try: get([1],bad,2)
    except TypeError as e: print(e)


def steps(a, i, j, k):
    return a[i:j:k]


for _ in range(40):
    steps([1, 2, 3], 0, 2, 1)
for t in ([1, 2, 3, 4, 5, 6, 7], [], [1], L([1, 2, 3])):
    for i in vals:
        for j in vals:
            for k in (None, 1, 2, 3, -1, -2, 100, -100, 2**70, -(2**63), 2**63 - 1, True, I(-1)):
                print(steps(t, i, j, k), end=" ")
    print()
try:
    steps([1], 0, 1, 0)
except ValueError as e:
    print(e)
try:
    steps([1], 0, 1, "x")
except TypeError as e:
    print(e)
