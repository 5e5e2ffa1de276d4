/* The extension module. Each part of it adds its types and functions. */

#include "native.h"

static int add_all(PyObject *module)
{
    (void)module;
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, add_all},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_native",
    .m_doc = "Functions in C; see scenthound.native.",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
