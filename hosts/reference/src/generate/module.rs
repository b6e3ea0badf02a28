//! The constant part of every program: classes, globals, and small functions.

/// Objects of constants.
pub(super) const OBJECTS: &str = "\
object \"A.__init__\": code = A.__init__
object \"A.m\": code = A.m
object \"A.get\": code = A.get
object \"A.__add__\": code = A.__add__
object \"A\": code = A
object \"B.get\": code = B.get
object \"B.__del__\": code = B.__del__
object \"B.__lt__\": code = B.__lt__
object \"B.__len__\": code = B.__len__
object \"B.__getitem__\": code = B.__getitem__
object \"B.__call__\": code = B.__call__
object \"B\": code = B
object \"C.get\": code = C.get
object \"C.__bool__\": code = C.__bool__
object \"C.__iter__\": code = C.__iter__
object \"C\": code = C
object \"D\": code = D
object \"E\": code = E
object \"K\": code = K
object \"W.__enter__\": code = W.__enter__
object \"W.__exit__\": code = W.__exit__
object \"W\": code = W
object \"f0.inner\": code = f0.inner
object \"f1.inner\": code = f1.inner
object \"f2.inner\": code = f2.inner
object \"('b',)\": tuple = `('b',)`
object \"('a', 'b')\": tuple = `('a', 'b')`
object \"('x', 'y')\": tuple = `('x', 'y')`
object \"(1, 'z', 2.5)\": tuple = `(1, 'z', 2.5)`

";

/// The classes (a diamond of four, an exception, a context manager), the interchangeable functions,
/// and the module's body.
pub(super) const CLASSES: &str = "\
code \"A.__init__\" {
  params 3
  local self
  local x
  local y
  stack 3
  const None
  name x
  name y
  load_fast x
  load_fast self
  store_attr x
  load_fast y
  load_fast self
  store_attr y
  return_const #0
}
code \"A.get\" {
  params 1
  local self
  stack 2
  name x
  load_fast self
  load_attr x
  return_value
}
code \"A.__add__\" {
  params 2
  local self
  local other
  stack 4
  name y
  load_fast self
  load_attr y
  load_fast other
  binary_op +
  return_value
}
code \"A\" {
  params 0
  stack 2
  namespace
  const Code[A.__init__]
  const Code[A.m]
  const Code[A.get]
  const Code[A.__add__]
  const None
  const 3
  name __init__
  name m
  name get
  name __add__
  name limit
  load_const #0
  make_function
  store_name __init__
  load_const #1
  make_function
  store_name m
  load_const #2
  make_function
  store_name get
  load_const #3
  make_function
  store_name __add__
  load_const #5
  store_name limit
  return_const #4
}
code \"B.get\" {
  params 1
  local self
  local __class__ free
  stack 5
  name super
  name get
  const 1
  copy_free_vars 1
  load_global super
  load_deref __class__
  load_fast self
  load_super_attr get, 1
  call 0
  load_const #0
  binary_op +
  return_value
}
code \"B.__del__\" {
  params 1
  local self
  stack 4
  name print
  name limit
  const None
  load_global print, 1
  load_fast self
  load_attr limit
  call 1
  pop_top
  return_const #0
}
code \"B.__lt__\" {
  params 2
  local self
  local other
  stack 4
  name x
  load_fast self
  load_attr x
  load_fast other
  compare_op <
  return_value
}
code \"B.__len__\" {
  params 1
  local self
  stack 4
  const 2
  return_const #0
}
code \"B.__getitem__\" {
  params 2
  local self
  local index
  stack 4
  name limit
  load_fast self
  load_attr limit
  load_fast index
  binary_op *
  return_value
}
code \"B.__call__\" {
  params 3
  local self
  local a
  local b
  stack 4
  name G
  load_fast a
  load_fast b
  build_tuple 2
  load_fast b
  store_global G
  return_value
}
code \"B\" {
  params 0
  stack 3
  namespace
  local __class__ cell
  const Code[B.get]
  const Code[B.__del__]
  const Code[B.__lt__]
  const Code[B.__len__]
  const Code[B.__getitem__]
  const Code[B.__call__]
  name get
  name __del__
  name __lt__
  name __len__
  name __getitem__
  name __call__
  make_cell __class__
  load_fast __class__
  build_tuple 1
  load_const #0
  make_function
  set_function_attribute closure
  store_name get
  load_const #1
  make_function
  store_name __del__
  load_const #2
  make_function
  store_name __lt__
  load_const #3
  make_function
  store_name __len__
  load_const #4
  make_function
  store_name __getitem__
  load_const #5
  make_function
  store_name __call__
  load_fast __class__
  return_value
}
code \"C.get\" {
  params 1
  local self
  local __class__ free
  stack 5
  name super
  name get
  const 1
  copy_free_vars 1
  load_global super
  load_deref __class__
  load_fast self
  load_super_attr get
  push_null
  call 0
  build_tuple 1
  return_value
}
code \"C.__bool__\" {
  params 1
  local self
  stack 4
  name x
  load_fast self
  load_attr x
  to_bool
  return_value
}
code \"C.__iter__\" {
  params 1
  local self
  stack 4
  name x
  name y
  load_fast self
  load_attr x
  load_fast self
  load_attr y
  build_list 2
  get_iter
  return_value
}
code \"C\" {
  params 0
  stack 3
  namespace
  local __class__ cell
  const Code[C.get]
  const Code[C.__bool__]
  const Code[C.__iter__]
  name get
  name __bool__
  name __iter__
  make_cell __class__
  load_fast __class__
  build_tuple 1
  load_const #0
  make_function
  set_function_attribute closure
  store_name get
  load_const #1
  make_function
  store_name __bool__
  load_const #2
  make_function
  store_name __iter__
  load_fast __class__
  return_value
}
code \"D\" {
  params 0
  stack 1
  namespace
  const None
  return_const #0
}
code \"K\" {
  params 0
  stack 4
  namespace
  local c free
  const 14
  const 0
  const None
  name range
  name i
  name total
  name G
  copy_free_vars 1
  setup_annotations
  load_const #1
  store_name total
  load_name range
  push_null
  load_const #0
  call 1
  get_iter
head:
  for_iter out
  store_name i
  load_name total
  load_name i
  binary_op +
  store_name total
  load_name total
  delete_name i
  load_locals
  load_from_dict_or_globals G
  pop_top
  load_locals
  load_from_dict_or_deref c
  pop_top
  store_name i
  jump_backward head
out:
  return_const #2
}
code \"E\" {
  params 0
  stack 1
  namespace
  const None
  return_const #0
}
code \"W.__enter__\" {
  params 1
  local self
  stack 1
  load_fast self
  return_value
}
code \"W.__exit__\" {
  params 4
  local self
  local kind
  local value
  local trace
  stack 4
  name G
  load_fast kind
  store_global G
  load_fast kind
  to_bool
  return_value
}
code \"W\" {
  params 0
  stack 2
  namespace
  const Code[W.__enter__]
  const Code[W.__exit__]
  const None
  name __enter__
  name __exit__
  load_const #0
  make_function
  store_name __enter__
  load_const #1
  make_function
  store_name __exit__
  return_const #2
}
code \"h0\" {
  params 2
  local a
  local b
  stack 2
  load_fast a
  return_value
}
code \"h1\" {
  params 2
  local a
  local b
  stack 2
  load_fast a
  load_fast b
  binary_op +
  return_value
}
code \"h2\" {
  params 2
  local a
  local b
  stack 2
  load_fast b
  build_tuple 1
  return_value
}
code \"k0\" {
  params 2
  local a
  local b
  local t
  stack 3
  const 2
  resume 0
  load_fast a  line 2
  load_fast b
  compare_op <, 1
  pop_jump_if_false other
  load_fast a  line 3
  load_const #0
  binary_op *
  return_value
other:
  load_fast a  line 4
  load_fast b
  binary_op -
  store_fast t
  load_fast t  line 5
  return_value
}
code \"k1\" {
  params 2
  local a
  local b
  stack 7
  name k0
  name k2
  const 1
  resume 0
  load_global k0, 1  line 2
  load_fast a
  load_global k2, 1
  load_fast b
  load_const #0
  call 2
  call 2  line 3
  return_value
}
code \"k2\" {
  params 2
  local a
  local b
  stack 2
  resume 0
  load_fast a  line 2
  load_fast b
  binary_op +
  store_fast a
  load_fast a  line 3
  load_fast b
  binary_op //
  store_fast b
  load_fast b  line 4
  unary_negative
  return_value
}
code \"k3\" {
  params 2
  local a
  local b
  stack 3
  name A
  name limit
  resume 0
  load_global A  line 2
  load_attr limit
  load_fast a
  compare_op ==, 1
  pop_jump_if_true same
  load_fast b  line 3
  return_value
same:
  load_fast a  line 4
  return_value
}
code \"rest\" {
  params 1, varargs, varkeywords
  local a
  local args
  local named
  stack 3
  load_fast a
  load_fast args
  load_fast named
  build_tuple 3
  return_value
}
code \"change\" {
  params 2
  local a
  local b
  stack 4
  const None
  name A
  name limit
  name G
  load_fast a
  load_global A
  store_attr limit
  load_fast b
  store_global G
  return_const #0
}
code \"<module>\" {
  params 0
  stack 8
  namespace
  const Code[A]
  const \"A\"
  const Code[B]
  const \"B\"
  const Code[C]
  const \"C\"
  const Code[D]
  const \"D\"
  const Code[E]
  const \"E\"
  const Code[W]
  const \"W\"
  const 5
  const \"nan\"
  const 1
  const \"inf\"
  const None
  name A
  name B
  name C
  name D
  name E
  name W
  name G
  name NAN
  name INF
  name h
  name h0
  name h1
  name h2
  name float
  name Exception
  load_build_class
  push_null
  load_const #0
  make_function
  load_const #1
  call 2
  store_name A
  load_build_class
  push_null
  load_const #2
  make_function
  load_const #3
  load_name A
  call 3
  store_name B
  load_build_class
  push_null
  load_const #4
  make_function
  load_const #5
  load_name A
  call 3
  store_name C
  load_build_class
  push_null
  load_const #6
  make_function
  load_const #7
  load_name B
  load_name C
  call 4
  store_name D
  load_build_class
  push_null
  load_const #8
  make_function
  load_const #9
  load_name Exception
  call 3
  store_name E
  load_build_class
  push_null
  load_const #10
  make_function
  load_const #11
  call 2
  store_name W
  load_const #12
  store_name G
  load_name float
  push_null
  load_const #13
  call 1
  store_name NAN
  load_name float
  push_null
  load_const #15
  call 1
  store_name INF
  load_name h1
  store_name h
  load_const #14
  build_tuple 1
  load_name h1
  set_function_attribute defaults
  pop_top
  return_const #16
}
";
