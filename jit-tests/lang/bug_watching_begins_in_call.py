"""Tracing, profiling and monitoring that begin in a call are obeyed from the next instruction on."""
import sys
log=[]
def prof(frame, event, arg):
    log.append((event, frame.f_code.co_name, getattr(arg,'__name__',None)))
def f():
    x = len([])
    sys.setprofile(prof)
    y = len([1]); z = abs(-3)
    g()
    sys.setprofile(None)
    return x+y+z
def g(): return max(1,2)
for i in range(60): 
    log.clear(); f()
print(log)
mon = sys.monitoring
lines=[]
mon.use_tool_id(2,"t")
mon.register_callback(2, mon.events.LINE, lambda c,l: lines.append((c.co_name,l-c.co_firstlineno)))
def h():
    a = 1
    mon.set_events(2, mon.events.LINE)
    b = 2
    c = len([a])
    mon.set_events(2, 0)
    d = 3
    return a+b+c+d
for i in range(60):
    lines.clear(); h()
print(lines)
def tr(frame, event, arg):
    lines.append((frame.f_code.co_name, event, frame.f_lineno-frame.f_code.co_firstlineno)); return tr
def k():
    a = 1
    sys.settrace(tr); sys._getframe().f_trace = tr
    b = 2
    c = len([a])
    m()
    sys.settrace(None)
    return a
def m():
    for i in range(3):
        i+1
for i in range(60):
    lines.clear(); k()
print(lines)
