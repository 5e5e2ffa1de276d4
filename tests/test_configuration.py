"""Configuration files, profiles and environment variables: what counts, and one clear line when something is wrong."""

import json
import os
import re
import signal
from pathlib import Path

import pytest

from scenthound.cli import INTERRUPTED, configuration, configuration_files
from scenthound.cli.app import load
from scenthound.cli.configuration import Configuration, all_options, options_of, variable_of
from scenthound.cli.configuration_files import found_files, read_file
from scenthound.errors import Failure, UsageError
from scenthound.reasons import EndReason

DOCUMENTATION = (Path(__file__).parents[1] / "docs" / "configuration.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, in a repository: folders above it are not searched."""
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "repository")
    # Set for all tests on a machine without a browser.
    monkeypatch.delenv("SCENTHOUND_CRAWL_RENDER", raising=False)
    return tmp_path / "repository"


@pytest.fixture
def user_file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    file = tmp_path / "user" / "scenthound" / "scenthound.toml"
    file.parent.mkdir(parents=True)
    return file


def settings(scenthound, *arguments):
    """The options that are set, and by what."""
    code, out, errors = scenthound("config", "--json", *arguments)
    assert code == 0, errors
    rows = json.loads(out)["settings"]
    return {(row["command"], row["option"]): (row["value"], row["set_by"]) for row in rows}


def test_what_is_nearer_to_the_command_counts_more(folder, user_file, scenthound, monkeypatch):
    user_file.write_text(
        "[crawl]\ndelay = 1.5\nconnections = 2\nredirects = 1\n[profile.polite.crawl]\nmax-depth = 9\n"
    )
    (folder / "scenthound.toml").write_text(
        "[crawl]\ndelay = 2\nconnections = 3\ntimeout = 7\n[profile.polite.crawl]\ndelay = 5\nconnections = 4\n"
    )
    assert {key: value for (_, key), (value, _) in settings(scenthound).items()} == {
        "delay": 2.0,
        "connections": 3,
        "redirects": 1,
        "timeout": 7.0,
    }
    monkeypatch.setenv("SCENTHOUND_CRAWL_CONNECTIONS", "6")
    monkeypatch.setenv("SCENTHOUND_PROFILE", "polite")
    found = settings(scenthound)
    assert found["crawl", "delay"] == (5.0, "scenthound.toml, [profile.polite.crawl]")
    assert found["crawl", "connections"] == (6, "SCENTHOUND_CRAWL_CONNECTIONS")
    assert found["crawl", "max-depth"][0] == 9
    assert found["crawl", "timeout"] == (7.0, "scenthound.toml, [crawl]")


def test_the_command_line_overrides_everything(folder, scenthound, monkeypatch):
    (folder / "scenthound.toml").write_text('[synthesize]\npages = 40\nout = "web"\ntopics = 2\n')
    monkeypatch.setenv("SCENTHOUND_SYNTHESIZE_PAGES", "50")
    code, out, errors = scenthound("synthesize", "--pages", 60, "--json")
    assert code == 0, errors
    assert json.loads(out)["pages"] == 60
    assert (folder / "web").is_dir()


def test_required_options_may_be_configured_and_profiles_are_chosen_before_or_after_the_command(folder, scenthound):
    (folder / "scenthound.toml").write_text(
        '[synthesize]\npages = 40\ntopics = 2\n[profile.a.synthesize]\nout = "a"\n[profile.b.synthesize]\nout = "b"\n'
    )
    assert scenthound("synthesize")[0] == 2
    assert scenthound("synthesize", "--profile", "a")[0] == 0
    assert scenthound("--profile", "b", "synthesize")[0] == 0
    assert {path.name for path in folder.iterdir()} >= {"a", "b"}


def test_lists_flags_and_numbers_are_read_as_on_the_command_line(folder, scenthound, monkeypatch):
    (folder / "scenthound.toml").write_text(
        '[crawl]\nseed = ["a.org", "b.org"]\nkeywords = "balloon"\nforce = true\nsitemaps = false\ntime = 90\n'
        '[topics.select]\nrule = "level"\n'
    )
    monkeypatch.setenv("SCENTHOUND_CRAWL_INCLUDE", '["*/a/*", "*/b, c/*"]')
    monkeypatch.setenv("SCENTHOUND_CRAWL_EXCLUDE", "*/d e/*")
    monkeypatch.setenv("SCENTHOUND_CRAWL_OFFLINE", "yes")
    monkeypatch.setenv("SCENTHOUND_CRAWL_CONTACT", "")
    assert {key: value for key, (value, _) in settings(scenthound).items()} == {
        ("crawl", "seed"): ["a.org", "b.org"],
        ("crawl", "keywords"): ["balloon"],
        ("crawl", "force"): True,
        ("crawl", "sitemaps"): False,
        ("crawl", "time"): "90",
        ("crawl", "include"): ["*/a/*", "*/b, c/*"],
        ("crawl", "exclude"): ["*/d e/*"],
        ("crawl", "offline"): True,
        ("topics select", "rule"): "level",
    }


def test_paths_of_a_file_are_relative_to_its_folder(folder, scenthound, monkeypatch):
    (folder / "scenthound.toml").write_text('[crawl]\ntopics = "topics.toml"\nout = "~/crawls"\n')
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    found = settings(scenthound)
    assert found["crawl", "topics"][0] == str(folder / "topics.toml")
    assert found["crawl", "out"][0] == os.path.expanduser("~/crawls")


def test_files_above_a_repository_and_files_of_others_are_not_read(folder, monkeypatch):
    above = folder.parent / "scenthound.toml"
    above.write_text("")
    assert found_files() == ([], [])
    (folder / ".git").rmdir()
    assert found_files() == ([above], [])
    monkeypatch.setattr(configuration_files, "_is_trusted", lambda file: False)
    paths, notes = found_files()
    assert (paths, len(notes)) == ([], 1)
    own = folder / "scenthound.toml"
    own.write_text("")
    assert found_files() == ([own], [])


def test_a_chosen_file_replaces_the_others(folder, user_file, scenthound):
    user_file.write_text("[crawl]\ndelay = 2\n")
    (folder / "scenthound.toml").write_text("[crawl]\ndelay = 3\n")
    (folder / "other.toml").write_text("[crawl]\nconnections = 3\n")
    assert list(settings(scenthound, "--config", "other.toml")) == [("crawl", "connections")]
    assert settings(scenthound, "--config", os.devnull) == {}


@pytest.mark.parametrize(
    ("content", "named", "nearest"),
    [
        ("[crawl]\ndleay = 2\n", ["dleay", "[crawl]"], "'delay'"),
        ("[crawll]\ndelay = 2\n", ["crawll"], "'crawl'"),
        ("[topics.selct]\nrule = 'level'\n", ["selct", "[topics]"], "'select'"),
        ("[profile.polite.crawl]\nconections = 2\n", ["conections", "[profile.polite.crawl]"], "'connections'"),
        ("[simulate]\npages = 3\nmod = 'polite'\n", ["mod", "[simulate]"], "'mode'"),
        ("delay = 2\n", ["delay"], "[crawl]"),
        ("crawl = 2\n", ["crawl"], "[crawl]"),
        ("[crawl]\ndelay = 'fast'\n", ["delay", "fast"], "number"),
        ("[crawl]\ndelay = true\n", ["delay", "true"], "a number"),
        ("[crawl]\npages = true\n", ["pages", "true"], "a whole number"),
        ("[crawl]\npages = 'x'\n", ["pages", "'x'"], "a whole number"),
        ("[crawl]\npages = 5.5\n", ["pages", "5.5"], "a whole number"),
        ("[crawl]\npages = 1979-05-27\n", ["pages", "1979-05-27"], "a whole number"),
        ("[crawl]\nlog-file = 3\n", ["log-file", "3"], "text"),
        ("[crawl]\nout = false\n", ["out", "false"], "text"),
        ("[crawl]\ndelay = nan\n", ["delay", "nan"], "0"),
        ("[crawl]\ndelay = [1, 2]\n", ["delay"], "list"),
        ("[crawl]\nconnections = 0\n", ["connections", "0"], "1"),
        ("[crawl]\nforce = 'always'\n", ["force"], "true or false"),
        ("[crawl\n", ["TOML"], "line 1"),
        ("[crawl]\nheader = [[1]]\n", ["header"], "text"),
        ("[crawl]\ntopics = {file = 'a'}\n", ["topics", "[crawl]"], "not a table"),
        ("[topics]\nselect = 3\n", ["select"], "[topics.select]"),
        ("[crawl]\npages = " + "9" * 5000, ["TOML"], "a number that is too long"),
        ("[crawl]\nx = " + "[" * 3000, ["TOML"], "nested too deeply"),
        ('[crawl]\nout = "a\\u0000b"\n', ["out"], "null character"),
        ("[crawl]\nexclude = [1, 2]\n", ["exclude", "1"], "text"),
        ("[crawl]\nrender = 1\n", ["render", "1"], "text"),
        ('[crawl]\nout = ""\n', ["out", "[crawl]"], "must not be empty"),
        ('[crawl]\ncommit-log = " "\n', ["commit-log"], "must not be empty"),
        ('[crawl]\ninclude = ["a", ""]\n', ["include"], "must not be empty"),
        ("[crawl]\npages-per-host = 1\npages_per_host = 2\n", ["pages_per_host and pages-per-host"], "remove one"),
        ('[crawl]\ncontact = ""\ndelay = 1e300\n', ["delay in scenthound.toml, [crawl]", "1e+300"], "from 0 to 86,400"),
        ('[crawl]\nuser-agent = "My Bot"\n', ["--user-agent 'My Bot'"], "--user-agent is set by"),
        ('[crawl]\ncontact = "m\u00fc@a.test"\n', ["--contact 'm\u00fc@a.test'"], "--contact is set by"),
    ],
)
def test_a_wrong_file_is_one_line_with_the_nearest_choice(folder, scenthound, content, named, nearest):
    (folder / "scenthound.toml").write_text(content)
    code, _, errors = scenthound("crawl", "--keywords", "balloon", "--seed", "http://127.0.0.1:1/")
    assert (code, errors.count("\n")) == (2, 1)
    assert "scenthound.toml" in errors
    for text in (*named, nearest):
        assert text in errors


def test_files_that_cannot_be_read_and_unknown_profiles_are_one_line(folder, scenthound):
    (folder / "bytes.toml").write_bytes(b"\xff\xfe")
    (folder / "one.toml").write_text("[profile.polite.crawl]\n[profile.quick]\n")
    for arguments in (
        ("--config", "missing.toml"),
        ("--config", folder),
        ("--config", "bytes.toml"),
        ("--profile", "polite"),
    ):
        code, _, errors = scenthound("config", *arguments)
        assert (code, errors.count("\n")) == (2, 1)
        assert str(arguments[-1]) in errors
    code, _, errors = scenthound("config", "--config", "one.toml", "--profile", "polit")
    assert code == 2
    assert "'polite'" in errors


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "dangling", "large"])
def test_what_has_the_name_of_a_file_but_cannot_be_read_is_one_line(folder, scenthound, kind):
    file = folder / "scenthound.toml"
    make = {
        "folder": file.mkdir,
        "pipe": lambda: os.mkfifo(file),
        "loop": lambda: file.symlink_to(file.name),
        "dangling": lambda: file.symlink_to("missing"),
        "large": lambda: file.write_text("#" * (configuration_files.MAX_FILE_BYTES + 1)),
    }
    make[kind]()
    for arguments in ((), ("--config", file)):
        code, _, errors = scenthound("config", *arguments)
        assert (code, errors.count("\n")) == (2, 1)
        assert "scenthound.toml" in errors
        assert "Errno" not in errors
        assert (f"{configuration_files.MAX_FILE_BYTES:,}" in errors) == (kind == "large")


def test_help_and_the_version_need_no_valid_file(folder, scenthound):
    (folder / "scenthound.toml").write_text("[crawl\n")
    assert scenthound("crawl", "--help")[0] == 0
    assert scenthound("--version")[0] == 0


def test_an_unknown_variable_is_a_note_with_the_nearest_name(folder, scenthound, monkeypatch):
    monkeypatch.setenv("SCENTHOUND_CRAWL_DLAY", "2")
    monkeypatch.setenv("SCENTHOUND_BROWSER_FOLDER", "/nonexistent")
    monkeypatch.setenv("SCENTHOUND_SIMULATE_PAGES", "3")
    code, _, errors = scenthound("metrics", "--json")
    assert (code, errors.count("\n")) == (0, 1)
    assert "SCENTHOUND_CRAWL_DLAY" in errors
    assert "SCENTHOUND_CRAWL_DELAY" in errors
    monkeypatch.setenv("SCENTHOUND_CRAWL_DELAY", "soon")
    assert scenthound("metrics", "--json")[0] == 0
    code, _, errors = scenthound("crawl")
    assert code == 2
    assert "SCENTHOUND_CRAWL_DELAY" in errors.splitlines()[-1]


@pytest.mark.parametrize("line", ['header = "Authorization: Bearer 1234567"', 'proxy = "http://me:1234567@proxy.test"'])
def test_credentials_that_others_can_read_are_a_note_and_are_never_printed(folder, scenthound, line):
    file = folder / "scenthound.toml"
    file.write_text(f"[crawl]\n{line}\n")
    file.chmod(0o644)
    code, out, errors = scenthound("config")
    assert code == 0
    assert "chmod 600 scenthound.toml" in errors
    assert "1234567" not in out + errors
    file.chmod(0o600)
    assert scenthound("config")[2] == ""


def test_an_error_about_a_configured_option_says_where_it_is_set(folder, scenthound):
    (folder / "scenthound.toml").write_text("[crawl]\npatience = 0.5\n")
    code, _, errors = scenthound("crawl", "--keywords", "balloon", "--seed", "a.test", "--strict-order")
    assert code == 2
    assert "scenthound.toml, [crawl]" in errors
    code, _, errors = scenthound(
        "crawl", "--keywords", "balloon", "--seed", "a.test", "--strict-order", "--patience", 0.1
    )
    assert code == 2
    assert "scenthound.toml" not in errors


def test_every_option_of_every_command_has_a_key_and_a_variable_of_its_own():
    commands = all_options()
    variables = [variable_of(words, key) for words, options in commands.items() for key in options]
    assert len(set(variables)) == len(variables) > 100
    assert not set(variables) & set(configuration.OTHER_VARIABLES)
    assert commands["record",]["from"].name == "sources"
    assert all(each.key == key for options in commands.values() for key, each in options.items())


def test_all_tables_of_a_file_are_checked_but_only_needed_commands_are_loaded(tmp_path, monkeypatch):
    loaded = []

    def loading(name):
        loaded.append(name)
        return load(name)

    file = tmp_path / "scenthound.toml"
    file.write_text("[metrics]\njson = true\n")
    monkeypatch.setattr(configuration, "load", loading)
    options_of.cache_clear()
    found = Configuration([read_file(file)])
    assert found.settings(("metrics",))["as_json"].value is True
    assert loaded == ["metrics"]


def section(heading):
    return DOCUMENTATION.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def test_the_example_of_the_documentation_is_valid(tmp_path):
    file = tmp_path / "scenthound.toml"
    file.write_text(re.search(r"```toml\n(.*?)```", DOCUMENTATION, re.DOTALL)[1])
    for profile in (None, "polite", "quick"):
        found = Configuration([read_file(file)], profile)
        assert all(found.settings(words) for words in (("crawl",), ("simulate",), ("topics", "select")))
    assert found.settings(("crawl",))["pages"].value == 50


def test_the_documentation_has_all_other_variables_and_only_known_ones():
    text = section("Environment variables")
    assert set(re.findall(r"^\| `(SCENTHOUND_\w+)`", text, re.MULTILINE)) == set(configuration.OTHER_VARIABLES)
    commands = all_options()
    known = {variable_of(words, key) for words, options in commands.items() for key in options}
    assert set(re.findall(r"^(SCENTHOUND_\w+)=", text, re.MULTILINE)) <= known


def test_the_documentation_has_the_exit_codes_and_endings_of_the_program():
    text = section("Exit codes")
    codes = {int(code) for row in re.findall(r"^\| ([\d, ]+) \|", text, re.MULTILINE) for code in row.split(",")}
    signals = {128 + signal.SIGHUP, 128 + signal.SIGTERM}
    assert codes == {0, Failure.exit_code, UsageError.exit_code, INTERRUPTED, *signals}
    failures = {EndReason.PROXY, EndReason.FILES}  # Of a run that failed nothing is printed.
    endings = re.search(r"`ended`: (.*?)\)", text, re.DOTALL)[1]
    assert set(re.findall(r"`(\w+)`", endings)) == {each.name.lower() for each in EndReason if each not in failures}


def test_a_path_of_an_unknown_user_and_a_damaged_list_in_a_variable_are_taken_as_they_are(
    folder, scenthound, monkeypatch
):
    (folder / "scenthound.toml").write_text('[crawl]\nresume = "~nobody-has-this-name/x"\n')
    code, _, errors = scenthound("crawl")
    assert (code, errors.count("\n")) == (2, 1)
    assert "~nobody-has-this-name/x" in errors
    (folder / "scenthound.toml").unlink()
    monkeypatch.setenv("SCENTHOUND_CRAWL_SEED", "[" * 3000)
    code, _, errors = scenthound("crawl", "--keywords", "balloon")
    assert (code, errors.count("\n")) == (2, 1)
    assert "[[[" in errors
