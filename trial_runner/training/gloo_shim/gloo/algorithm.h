#pragma once

// See ../README.md: ProcessGroupGloo.hpp includes this file and uses nothing of it.
