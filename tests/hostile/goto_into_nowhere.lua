-- expect: syntax
goto nowhere
