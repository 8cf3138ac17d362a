"""Why something is not accepted: the clause inside an error's sentence (decision 8).

An error carries the clause's code as its detail `reason` or `problem`, so that a program can tell
the cases apart and a person reads the whole sentence in one language. What a foreign service says
has no code and is shown as it came.
"""

from collections.abc import Mapping

from archivolt.domain.language import Message
from archivolt.domain.limits import (
    MAX_CONTEXT_FILES,
    MAX_MESSAGE_CHARS,
    MAX_MESSAGE_IMAGES,
    MAX_NAME_BYTES,
    MAX_PATH_BYTES,
    MAX_PATTERN_CHARS,
    MAX_QUERY_CHARS,
    MAX_TITLE_CHARS,
    MAX_TOP_K,
    MAX_VAULT_NAME_CHARS,
)

REASONS: Mapping[str, Message] = {
    "changed_since": Message("changed since it was confirmed", "modifié depuis la confirmation"),
    "code_kind": Message(
        "only Python, JavaScript, TypeScript, HTML, CSS, plain JSON, YAML and TOML are",
        "seuls Python, JavaScript, TypeScript, HTML, CSS, JSON simple, YAML et TOML le sont",
    ),
    "code_template": Message(
        "it is a template that is filled in later", "c'est un modèle qui sera rempli plus tard"
    ),
    "code_too_complex": Message(
        "it takes more time, memory or nesting than a check has",
        "il demande plus de temps, de mémoire ou d'imbrication qu'un contrôle n'en a",
    ),
    "code_too_large": Message("it is too large", "il est trop gros"),
    "confirm_and_decline": Message(
        "a change is both confirmed and declined", "un changement est à la fois confirmé et refusé"
    ),
    "content_not_unicode": Message(
        "content is not valid Unicode", "content n'est pas de l'Unicode valide"
    ),
    "context_without_place": Message(
        "context needs a vault, and the paths it is about",
        "context demande un coffre, et les chemins dont il s'agit",
    ),
    "event_not_of_s3": Message("not an event of S3", "pas un événement de S3"),
    "image_address": Message(
        "its address is neither a data: URL nor a file of a vault",
        "son adresse n'est ni une URL data: ni un fichier d'un coffre",
    ),
    "image_damaged": Message("its data is damaged", "ses données sont abîmées"),
    "image_gif": Message(
        "this provider takes no GIF, but PNG, JPEG and WebP",
        "ce fournisseur ne prend pas de GIF, mais PNG, JPEG et WebP",
    ),
    "image_kind": Message(
        "it is no PNG, JPEG, GIF or WebP", "ce n'est ni PNG, ni JPEG, ni GIF, ni WebP"
    ),
    "images_too_many": Message(
        f"at most {MAX_MESSAGE_IMAGES} at a time", f"au plus {MAX_MESSAGE_IMAGES} à la fois"
    ),
    "job_unreadable": Message("not an embedding job", "pas une tâche de vectorisation"),
    "mcp_address_private": Message(
        "its address is not on the public Internet, and this deployment does not allow it",
        "son adresse n'est pas sur l'Internet public, et ce déploiement ne l'autorise pas",
    ),
    "mcp_asks_model": Message(
        "it wants to use the model itself", "il veut se servir lui-même du modèle"
    ),
    "mcp_asks_too_much": Message(
        "it asks again and again, or too much at once", "il redemande sans fin, ou trop à la fois"
    ),
    "mcp_ended": Message("it closed the connection", "il a fermé la connexion"),
    "mcp_garbled": Message("what it says is no MCP", "ce qu'il dit n'est pas du MCP"),
    "mcp_http_status": Message("it answers with HTTP {status}", "il répond par HTTP {status}"),
    "mcp_key_refused": Message("it refuses its key", "il refuse sa clé"),
    "mcp_no_program": Message(
        "its command cannot be started", "sa commande ne peut pas être lancée"
    ),
    "mcp_programs_off": Message(
        "it is a program, and this deployment runs none",
        "c'est un programme, et ce déploiement n'en lance aucun",
    ),
    "mcp_slow": Message("it takes too long", "il met trop de temps"),
    "mcp_too_much": Message("it says too much", "il en dit trop"),
    "mcp_unasked": Message("it was not asked yet", "il n'a pas encore été interrogé"),
    "mcp_unreachable": Message("its address does not answer", "son adresse ne répond pas"),
    "message_size": Message(
        f"message must have 1 to {MAX_MESSAGE_CHARS} characters, or an image",
        f"message doit avoir de 1 à {MAX_MESSAGE_CHARS} caractères, ou une image",
    ),
    "name_control_character": Message(
        "a control or invisible character", "un caractère de contrôle ou invisible"
    ),
    "name_dots": Message("a . or .. name", "un nom . ou .."),
    "name_empty": Message("an empty name", "un nom vide"),
    "name_outer_space": Message(
        "a name with a space at its start or end", "un nom avec une espace au début ou à la fin"
    ),
    "name_slash": Message(
        "a slash, a backslash or a look-alike of one",
        "une barre oblique, une barre inverse ou un sosie",
    ),
    "name_taken": Message("its name is taken", "son nom est déjà pris"),
    "name_too_long": Message(
        f"a name longer than {MAX_NAME_BYTES} bytes", f"un nom de plus de {MAX_NAME_BYTES} octets"
    ),
    "not_a_text": Message("not a text", "pas un texte"),
    "oauth_absent": Message(
        "it does not say who lets people in", "il ne dit pas qui laisse entrer les gens"
    ),
    "oauth_address": Message(
        "an address that it names is none of https",
        "une adresse qu'il nomme n'est pas en https",
    ),
    "oauth_declined": Message("you said no there", "vous avez refusé là-bas"),
    "oauth_garbled": Message("what it says is no OAuth", "ce qu'il dit n'est pas de l'OAuth"),
    "oauth_issuer": Message(
        "who lets people in is not who it says", "qui laisse entrer n'est pas celui qu'il dit"
    ),
    "oauth_pkce": Message(
        "it does not protect a sign-in by PKCE", "il ne protège pas une connexion par PKCE"
    ),
    "oauth_resource": Message("it says that it is another server", "il dit être un autre serveur"),
    "oauth_unsaid": Message("it does not say why", "il ne dit pas pourquoi"),
    "path_absolute": Message("absolute", "absolu"),
    "path_disguised": Message(
        "a disguised .. or separator", "un .. ou un séparateur sous un déguisement"
    ),
    "path_empty": Message("empty", "vide"),
    "path_not_unicode": Message("not Unicode", "pas de l'Unicode"),
    "path_too_long": Message(
        f"longer than {MAX_PATH_BYTES} bytes", f"plus de {MAX_PATH_BYTES} octets"
    ),
    "path_uri": Message("a URI", "une URI"),
    "pattern_bracket_extra": Message(
        "a bracket closes that was never opened", "une parenthèse ferme sans avoir été ouverte"
    ),
    "pattern_bracket_missing": Message(
        "a bracket is opened and never closed", "une parenthèse ou un crochet n'est pas refermé"
    ),
    "pattern_class": Message(
        "a set or range of characters is not valid",
        "un ensemble ou un intervalle de caractères n'est pas valide",
    ),
    "pattern_escape": Message(
        r"a \ stands before what it has no meaning for; there are no back-references",
        r"un \ n'a pas de sens devant ce qui le suit ; il n'y a pas de références arrière",
    ),
    "pattern_finds_nothing": Message(
        "it also finds empty text, and so is found everywhere",
        "il trouve aussi un texte vide, et donc partout",
    ),
    "pattern_group_kind": Message(
        "it has a group of a kind that is not available, such as look-around",
        "il a un groupe d'un genre qui n'existe pas ici, comme (?=…) ou (?<=…)",
    ),
    "pattern_group_unknown": Message(
        "the replacement names a group that the pattern does not have",
        "le remplacement nomme un groupe que le motif n'a pas",
    ),
    "pattern_not_unicode": Message("not Unicode", "pas de l'Unicode"),
    "pattern_repeat_size": Message(
        "a number of repetitions is not possible, or over 1000",
        "un nombre de répétitions est impossible, ou dépasse 1000",
    ),
    "pattern_repeats_nothing": Message(
        "a *, + or ? has nothing to repeat", "un *, + ou ? n'a rien à répéter"
    ),
    "pattern_too_long": Message(
        f"longer than {MAX_PATTERN_CHARS} characters", f"plus de {MAX_PATTERN_CHARS} caractères"
    ),
    "places_too_many": Message(
        f"at most {MAX_CONTEXT_FILES} files and directories at a time",
        f"au plus {MAX_CONTEXT_FILES} fichiers et dossiers à la fois",
    ),
    "provider_address": Message("its address is not valid", "son adresse n'est pas valide"),
    "provider_connection": Message("the connection failed", "la connexion a échoué"),
    "provider_error": Message("an error in its answer", "une erreur dans sa réponse"),
    "provider_incomplete": Message("its answer is incomplete", "sa réponse est incomplète"),
    "provider_silent": Message("no answer in time", "pas de réponse à temps"),
    "provider_unreachable": Message("nobody answers at its address", "personne n'y répond"),
    "query_size": Message(
        f"q must have 1 to {MAX_QUERY_CHARS} characters",
        f"q doit avoir de 1 à {MAX_QUERY_CHARS} caractères",
    ),
    "secret_would_show": Message(
        "a secret would no longer be hidden", "un secret ne serait plus masqué"
    ),
    "skill_title": Message(
        "a title without letters and digits needs an id",
        "un titre sans lettres ni chiffres demande un identifiant",
    ),
    "tenant_unreadable": Message(
        "a tenant's id has 1 to 64 letters, digits, _ or -",
        "un identifiant d'organisation a 1 à 64 lettres, chiffres, _ ou -",
    ),
    "title_size": Message(
        f"title must have 1 to {MAX_TITLE_CHARS} characters",
        f"title doit avoir de 1 à {MAX_TITLE_CHARS} caractères",
    ),
    "too_large_to_change": Message("too large to be changed", "trop gros pour être modifié"),
    "top_k_range": Message(
        f"top_k must be 1 to {MAX_TOP_K}", f"top_k doit être compris entre 1 et {MAX_TOP_K}"
    ),
    "url_credentials": Message(
        "it carries a user name or password", "elle porte un identifiant ou un mot de passe"
    ),
    "url_form": Message("it is no web address", "ce n'est pas une adresse web"),
    "url_port": Message("its port is not one of the web", "son port n'est pas un port du web"),
    "url_redirects": Message("it leads from one to the next", "elle mène d'une autre à une autre"),
    "url_scheme": Message("only http and https are read", "seuls http et https sont lus"),
    "user_unreadable": Message(
        "user is not an identifier that tokens carry",
        "user n'est pas un identifiant que portent les jetons",
    ),
    "vault_name_too_long": Message(
        f"longer than {MAX_VAULT_NAME_CHARS} characters",
        f"plus de {MAX_VAULT_NAME_CHARS} caractères",
    ),
    "version_gone": Message("its version is gone", "sa version n'existe plus"),
    "webhook_address_private": Message(
        "its address is not on the public Internet, and this deployment does not allow it",
        "son adresse n'est pas sur l'Internet public, et ce déploiement ne l'autorise pas",
    ),
    "webhook_http_status": Message("it answers with HTTP {status}", "il répond par HTTP {status}"),
    "webhook_slow": Message("it takes too long", "il met trop de temps"),
    "webhook_unreachable": Message("its address does not answer", "son adresse ne répond pas"),
    "yaml_aliases": Message("more than {limit} YAML aliases", "plus de {limit} alias YAML"),
    "yaml_broken": Message("not valid YAML, line {line}", "YAML non valide, ligne {line}"),
    "yaml_not_properties": Message("not a list of properties", "pas une liste de propriétés"),
    "yaml_too_long": Message("over {limit} characters", "plus de {limit} caractères"),
    "yaml_twice": Message("{name} occurs twice", "{name} figure deux fois"),
    "yaml_unlike": Message(
        "{name} cannot be written without changing more",
        "{name} ne peut être écrit sans changer le reste",
    ),
}
"""Every clause by its code, in alphabetical order."""
