"""The sentences of changes to documents: edits, deletions, backups (decision 8)."""

from collections.abc import Mapping

from archivolt.domain.language import Message

CHANGE_MESSAGES: Mapping[str, Message] = {
    "code_check_failed": Message(
        "{path} would not be valid (line:column): {problems}. Correct it and propose it again.",
        "{path} ne serait pas valide (ligne:colonne) : {problems}. Corrigez puis reproposez-le.",
    ),
    "code_not_checked": Message("Not checked: {reason}.", "Non vérifié : {reason}."),
    "content_type_invalid": Message(
        "content_type is not a media type; give one such as image/png, or leave it out.",
        "content_type n'est pas un type de média ; donnez-en un comme image/png, ou omettez-le.",
    ),
    "directory_exists": Message(
        "There is a directory {path} already; use it, or choose another name.",
        "Il y a déjà un dossier {path} ; utilisez-le ou choisissez un autre nom.",
    ),
    "directory_not_empty": Message(
        "The directory {path} is not empty; delete it with recursive = true, or empty it first.",
        "Le dossier {path} n'est pas vide ; supprimez-le avec recursive = true, ou videz-le.",
    ),
    "edit_of_partial_read": Message(
        "This would replace {path} on the basis of a part of it: read the rest and send the whole "
        "text without etag, or use append_to_file or replace_in_files.",
        "Cela remplacerait {path} d'après une partie seulement : lisez le reste et envoyez tout "
        "le texte sans etag, ou utilisez append_to_file ou replace_in_files.",
    ),
    "etag_required": Message(
        "Saving needs the version it is based on: send etag, or If-Match, as the file was read.",
        "L'enregistrement demande sa version de départ : envoyez etag, ou If-Match, tel que lu.",
    ),
    "frontmatter_invalid": Message(
        "The front matter of {path} cannot be changed ({problem}); correct it by hand first.",
        "L'en-tête YAML de {path} ne peut être modifié ({problem}) ; corrigez-le d'abord.",
    ),
    "move_into_itself": Message(
        "{path} cannot be moved into itself, to {target}; choose another place.",
        "{path} ne peut être déplacé dans lui-même, vers {target} ; choisissez un autre endroit.",
    ),
    "operation_not_found": Message(
        "You began no such operation {operation} here; make the change again without operation.",
        "Vous n'avez commencé aucune opération {operation} ici ; refaites le changement sans elle.",
    ),
    "operation_running": Message(
        "Other work on {path} is not finished yet; wait for it, then retry.",
        "Un autre travail sur {path} n'est pas encore fini ; attendez-le, puis réessayez.",
    ),
    "operation_unfinished": Message(
        "{done} of {total} files are done so far; call again the same way to go on.",
        "{done} fichiers sur {total} sont faits ; rappelez de la même façon pour continuer.",
    ),
    "placeholder_unknown": Message(
        "{placeholder} cannot be traced to one secret of the file; keep its line as it was read, "
        "or write the value itself.",
        "{placeholder} ne correspond pas à un secret précis du fichier ; gardez sa ligne telle "
        "que lue, ou écrivez la valeur elle-même.",
    ),
    "too_many_files": Message(
        "This touches {count} files and the limit is {limit}; do it in smaller parts.",
        "Cela touche {count} fichiers et la limite est {limit} ; procédez par parties.",
    ),
    "upload_too_large": Message(
        "An upload has at most {limit} bytes; split the file.",
        "Un envoi a au plus {limit} octets ; divisez le fichier.",
    ),
    "version_not_found": Message(
        "There is no version {version} of {path} to read; list its backups to see which there are.",
        "Il n'y a pas de version {version} de {path} ; listez ses sauvegardes pour les voir.",
    ),
}
