from ctypes import Array, c_double, c_ushort

FPDF_ERR_PASSWORD: int
FPDF_PAGEOBJ_IMAGE: int
FPDF_PAGEOBJ_PATH: int
FPDF_ANNOT_FLAG_HIDDEN: int
FPDF_ANNOT_FLAG_NOVIEW: int
FPDF_ANNOT_FREETEXT: int
FPDF_ANNOT_WIDGET: int
FPDF_FORMFIELD_TEXTFIELD: int
FPDF_FORMFIELD_COMBOBOX: int
FPDF_FORMFIELD_LISTBOX: int

class FS_RECTF:  # noqa: N801
    top: float
    bottom: float

def FPDFText_GetUnicode(text_page: object, index: int) -> int: ...  # noqa: N802
def FPDFText_GetFontSize(text_page: object, index: int) -> float: ...  # noqa: N802
def FPDFText_GetCharOrigin(  # noqa: N802
    text_page: object, index: int, x: c_double, y: c_double
) -> int: ...
def FPDFPage_GetAnnotCount(page: object) -> int: ...  # noqa: N802
def FPDFPage_GetAnnot(page: object, index: int) -> object: ...  # noqa: N802
def FPDFPage_CloseAnnot(annotation: object) -> None: ...  # noqa: N802
def FPDFAnnot_GetFlags(annotation: object) -> int: ...  # noqa: N802
def FPDFAnnot_GetSubtype(annotation: object) -> int: ...  # noqa: N802
def FPDFAnnot_GetRect(annotation: object, rect: FS_RECTF) -> int: ...  # noqa: N802
def FPDFAnnot_GetStringValue(  # noqa: N802
    annotation: object, key: bytes, buffer: Array[c_ushort] | None, length: int
) -> int: ...
def FPDFAnnot_GetFormFieldType(form: object, annotation: object) -> int: ...  # noqa: N802
def FPDFAnnot_GetFormFieldFlags(form: object, annotation: object) -> int: ...  # noqa: N802
def FPDFAnnot_GetFormFieldValue(  # noqa: N802
    form: object, annotation: object, buffer: Array[c_ushort] | None, length: int
) -> int: ...
