from ctypes import c_double

FPDF_ERR_PASSWORD: int
FPDF_PAGEOBJ_IMAGE: int
FPDF_PAGEOBJ_PATH: int

def FPDFText_GetUnicode(text_page: object, index: int) -> int: ...  # noqa: N802
def FPDFText_GetFontSize(text_page: object, index: int) -> float: ...  # noqa: N802
def FPDFText_GetCharOrigin(  # noqa: N802
    text_page: object, index: int, x: c_double, y: c_double
) -> int: ...
