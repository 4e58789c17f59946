"""PySpark's private access to a session's JVM, which fails here first when Spark changes it."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError

from millrace_catalog.jvm import HadoopFolder, session_jvm


def test_a_session_shows_its_jvm(spark):
    assert session_jvm(spark, "a test").java.lang.Math.max(1, 2) == 2
    assert session_jvm(spark, "a test").org.apache.hadoop.fs.Path("a/b").getName() == "b"


def test_files_of_a_hadoop_folder(spark, tmp_path):
    folder = HadoopFolder(spark, f"file:{tmp_path}/made")
    assert (folder.exists(), folder.names()) == (False, [])

    folder.make("")
    folder.write("draft", "größe\n")
    folder.write(".hidden", "")
    folder.make("inner")
    folder.move("draft", "text")

    assert (tmp_path / "made" / "text").read_text() == folder.read("text") == "größe\n"
    assert folder.names() == ["inner", "text"]
    assert (folder.is_file("text"), folder.is_file("inner")) == (True, False)
    assert folder.path("text") == f"file:{tmp_path}/made/text"

    folder.delete("inner")
    folder.delete("inner")
    assert folder.names() == ["text"]


def test_a_folder_has_the_hadoop_settings_of_its_session(spark, tmp_path):
    session = spark.newSession()
    session.conf.set("fs.file.impl.disable.cache", "true")
    session.conf.set("fs.file.impl", "no.such.FileSystem")
    with pytest.raises(Py4JJavaError, match=r"no\.such\.FileSystem"):
        HadoopFolder(session, f"file:{tmp_path}/none")
